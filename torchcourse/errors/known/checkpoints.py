"""Files of weights: names, shapes, pickles, devices."""

from ..data import Kind

KINDS = (
    Kind(
        slug="state-dict-prefix",
        chapter="checkpoints",
        says=(
            "keyerror: 'module.{name:w}'",
            'unexpected key(s) in state_dict: "module.',
            'missing key(s) in state_dict: "module.',
            'unexpected key(s) in state_dict: "model.',
            'missing key(s) in state_dict: "model.',
            'unexpected key(s) in state_dict: "_orig_mod.',
            'missing key(s) in state_dict: "_orig_mod.',
            'unexpected key "module.',
            'unexpected key(s) in state_dict: "net.',
            'unexpected key "module',
            "missing keys in state_dict: {'module.",
            "keyerror: 'unexpected key \"module.",
            'missing key(s) in state_dict: {...}unexpected key(s) in state_dict: "module.',
            'missing key(s) in state_dict: {...}unexpected key(s) in state_dict: "_orig_mod.',
            'missing key(s) in state_dict: {...}unexpected key(s) in state_dict: "model.',
        ),
        reads=(
            "error(s) in loading state_dict for {model:w}",
            'missing key(s) in state_dict: "{missing:w}"',
            'unexpected key(s) in state_dict: "{unexpected:w}"',
        ),
        here=(
            'Here ({model}): missing "{missing}" …, unexpected "{unexpected}" ….',
            'Here: unexpected "{unexpected}" ….',
            'Here: missing "{missing}" ….',
        ),
        what=(
            "A state_dict's names are paths of attributes. A wrapper adds one step to all of them: "
            'DataParallel and DDP "module.", torch.compile "_orig_mod.", Lightning "model."; so the same '
            "weights have other names."
        ),
        causes=("The wrapper's state_dict was saved, and the bare model loads it (or the other way round).",),
        mend=(
            "from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present\n"
            "consume_prefix_in_state_dict_if_present(state, 'module.')     # in place\n"
            "model.load_state_dict(state)\n"
            "torch.save(model.module.state_dict(), path)                   # next time"
        ),
        check="torchcourse.checkpoints.compare(model, state): its .renamed loads.",
        wrong=(
            (
                "`strict=False`: nothing fits, nothing is loaded, and the model keeps its random weights without a "
                "word."
            ),
        ),
    ),
    Kind(
        slug="state-dict-shape",
        chapter="checkpoints",
        says=(
            (
                "size mismatch for {name:w}: copying a param with shape {saved:s} from checkpoint, the shape in "
                "current model is {current:s}"
            ),
            "size mismatch for {name:w}: copying a param",
            "copying a param with shape",
            "copying a param of {saved:s} from checkpoint, where the shape is {current:s} in current model",
            "copying a param of",
            "while copying the parameter named",
            "whose dimensions in the model are {current:s} and whose dimensions in the checkpoint are {saved:s}",
            "whose dimensions in the checkpoint are",
            'while copying the parameter named "{name:w}"',
            'trying to set a tensor of shape {saved:s} in "{name:w}" (which has shape {current:s})',
            "trying to set a tensor of shape",
            "ignore_mismatched_sizes",
            "for backbone.{...}copying",
        ),
        reads=(
            'while copying the parameter named "{name:w}"',
            "while copying the parameter named '{name:w}'",
            "whose dimensions in the model are {current:s} and whose dimensions in the checkpoint are {saved:s}",
            "a param with shape {saved:s} from checkpoint, the shape in current model is {current:s}",
        ),
        here=(
            "Here: {name} is {saved} in the file and {current} in the model.",
            "Here: {saved} in the file, {current} in the model.",
        ),
        what=(
            "The names fit, the shapes do not: the model was built with other settings than the one that was "
            "saved. `strict=False` forgives names, never shapes."
        ),
        causes=(
            "Another number of classes: the head differs.",
            "Another width, vocabulary, image size (position table) or number of anchors.",
            "It is the file of another model of the same family.",
        ),
        mend=(
            "own = model.state_dict()\n"
            "fits = {k: v for k, v in saved.items() if k in own and v.shape == own[k].shape}\n"
            "print(sorted(own.keys() - fits.keys()))              # these stay new, and must be trained\n"
            "model.load_state_dict(fits, strict=False)"
        ),
        check="torchcourse.checkpoints.compare(model, saved).changed names what differs.",
        wrong=("`strict=False` alone: it does not help for shapes.",),
    ),
    Kind(
        slug="state-dict-keys",
        chapter="checkpoints",
        says=(
            "missing key(s) in state_dict",
            "unexpected key(s) in state_dict",
            "error(s) in loading state_dict for {model:w}",
            "error(s) in loading state_dict",
            'unexpected key "',
            "missing keys in state_dict",
            "unexpected key {...}in state_dict",
            "some weights of the model checkpoint at {...} were not used when initializing",
            "some weights of {...} were not initialized from the model checkpoint",
        ),
        reads=(
            "error(s) in loading state_dict for {model:w}",
            'missing key(s) in state_dict: "{missing:w}"',
            'unexpected key(s) in state_dict: "{unexpected:w}"',
            'unexpected key "{unexpected:w}"',
        ),
        here=(
            'Here ({model}): missing "{missing}" …, unexpected "{unexpected}" ….',
            'Here ({model}): missing "{missing}" ….',
            'Here ({model}): unexpected "{unexpected}" ….',
        ),
        needs=(
            "state_dict",
            'unexpected key "',
            "checkpoint",
        ),
        what=(
            "A state_dict's names are paths of attributes in the model. The file's names and the model's "
            "differ."
        ),
        causes=(
            "The file is a whole checkpoint: the weights are one of its entries ('state_dict', 'model').",
            (
                'A wrapper\'s prefix: "module." (DataParallel), "_orig_mod." (torch.compile), "model." '
                "(Lightning)."
            ),
            "The model's code changed: layers were renamed, added, or their order in Sequential changed.",
        ),
        mend=(
            "saved = torch.load(path, map_location='cpu', weights_only=True)\n"
            "print(list(saved)[:5])\n"
            "model.load_state_dict(saved['state_dict'])"
        ),
        check="torchcourse.checkpoints.compare(model, saved): .missing, .unexpected, .cause.",
        wrong=("`strict=False` to silence it: what is missing keeps its random numbers.",),
    ),
    Kind(
        slug="weights-only-refused",
        chapter="checkpoints",
        says=(
            "you are using 'torch.load' with 'weights_only=false'",
            "weights only load failed",
            "was not an allowed global by default",
            "unsupported global: global {name:w} was not an allowed global",
            "unsupported global: global",
            "unsupported class",
            "weightsunpickler error",
            "unsupported operand {operand:d}",
            "trying to instantiate unsupported class",
            "can only build tensor, parameter, ordereddict or types allowlisted",
            "re-running 'torch.load' with 'weights_only' set to 'false'",
            "torch.serialization.add_safe_globals",
            "'weights_only=false' (the current default value)",
            "cannot use 'weights_only=true'",
            "cannot use weights_only=true with torchscript archives",
            "unpickler error",
        ),
        reads=("unsupported global: global {name:w}",),
        here=("Here: the file asks for {name}.",),
        needs=(
            "weights",
            "global",
            "weights_only",
            "torch",
            "unpickl",
        ),
        unless=(
            "sklearn",
            "joblib",
            "pandas",
        ),
        what=(
            "A checkpoint is a pickle, and a pickle may run any code. Since 2.6 `torch.load` builds only "
            "tensors and plain containers (weights_only=True); the file holds something else."
        ),
        causes=(
            "NumPy scalars or states are in the checkpoint (a best loss as np.float64, np.random.get_state()).",
            "The whole model, a config object or an optimizer was pickled.",
            "The file comes from a source that you do not know: then stop here.",
        ),
        mend=(
            "torch.save({'w': w, 'best': float(best)}, path)            # plain numbers: loads everywhere\n"
            "with torch.serialization.safe_globals([np._core.multiarray.scalar, np.dtype, "
            "np.dtypes.Float64DType]):\n"
            "    saved = torch.load(path)                               # a file that you trust, name by name"
        ),
        check="torch.load(path, weights_only=True) works.",
        wrong=("`weights_only=False` for a file from somewhere: it runs whatever code the file holds.",),
    ),
    Kind(
        slug="weights-only-pickle-module",
        chapter="checkpoints",
        says=("explicit pickle_module is specified",),
        what="weights_only=True brings its own restricted unpickler; a pickle_module asks for another one.",
        causes=(
            "Both are given; or TORCH_FORCE_WEIGHTS_ONLY_LOAD is set, or a library passes pickle_module.",
        ),
        mend="saved = torch.load(path, weights_only=True)        # without pickle_module",
        check="It loads without pickle_module.",
        wrong=("`weights_only=False` for an untrusted file.",),
    ),
    Kind(
        slug="checkpoint-device",
        chapter="checkpoints",
        says=(
            "device module is not registered. if you are running on a cpu-only machine",
            (
                "attempting to deserialize object on cuda device {device:d} but torch.cuda.device_count() is "
                "{count:d}"
            ),
            "attempting to deserialize object on",
            "don't know how to restore data location of",
            "don't know how to determine data location of",
        ),
        here=("Here: the file says card {device}, and there are {count}.",),
        what=(
            "A file notes for each tensor the device on which it lay, and `torch.load` puts it back there. "
            "That device is not here."
        ),
        causes=(
            "Saved on a GPU machine, loaded on a CPU one.",
            "Saved on card 1 or higher, loaded where there are fewer.",
        ),
        mend=(
            "saved = torch.load(path, map_location='cpu', weights_only=True)\n"
            "model.load_state_dict(saved)\n"
            "model.to(device)"
        ),
        check="{v.device for v in saved.values()}.",
    ),
    Kind(
        slug="checkpoint-corrupted",
        chapter="checkpoints",
        says=(
            "legacy model format is not supported",
            "attempted to read a pytorch file with version",
            "kmaxsupportedfileformatversion",
            "mmap can only be used with files saved with",
            "f must be a file path in order to use the mmap argument",
            "expected 'f' to be string, path, or a file-like object",
            "cannot save multiple tensors or storages that view the same data as different types",
            'invalid hash value (expected "{expected:w}", got "{got:w}")',
            "invalid hash value",
            "unknown saved id type",
            "cannot use ''weights_only=true'' with files saved in the legacy",
            "couldn't retrieve source code for container of type",
            "pytorchstreamreader failed reading zip archive: {reason}",
            "failed finding central directory",
            "pytorchstreamreader failed",
            "invalid header or archive is corrupted",
            "unexpected eof, expected {expected:d} more bytes. the file might be corrupted",
            "the file might be corrupted",
            "unexpected eof",
            "storage has wrong size: expected {expected:d} got {got:d}",
            "storage has wrong size",
            "invalid magic number; corrupt file?",
            "invalid magic number",
            "invalid load key, '{key}'",
            "invalid load key",
            "pickle data was truncated",
            "file in archive is not in a subdirectory",
            "inline_container.cc",
            "did you mean to use torch.jit.load",
            "error while deserializing header: {reason}",
            "error while deserializing header",
            "headertoolarge",
            "metadataincompletebuffer",
            "invalidheaderdeserialization",
            "legacy tar format",
            "unsupported protocol: ",
            "ran out of input at{...}load",
            "you can only torch.load from a file that is seekable",
            "invalid protocol version",
            "unpickling stack underflow",
            "unpicklingerror: pickle data",
            "archive is corrupted",
            "constants.pkl",
        ),
        reads=("failed reading zip archive: {reason}",),
        here=(
            "Here: {reason}.",
            "Here: {expected} bytes expected, {got} there.",
            "Here: the file begins with '{key}'.",
        ),
        types=(
            "RuntimeError",
            "UnpicklingError",
            "EOFError",
            "SafetensorError",
            "OSError",
            "ValueError",
            "BadZipFile",
            "AttributeError",
            "UserWarning",
        ),
        needs=(
            "mmap",
            "hash value",
            "source code for container",
            "torch",
            "unpickl",
            "corrupt",
            "archive",
            "pytorchstream",
            "magic number",
            "storage has wrong size",
            "load key",
            "deserializing header",
            "unexpected pos",
            "inline_container",
            "header",
            "unexpected eof",
        ),
        unless=(
            "pandas",
            "sklearn",
            "joblib",
            "zipfile.",
            "parquet",
            "tensorflow",
            "h5py",
        ),
        what=(
            "A PyTorch file is a zip archive (since 1.6) with its table of contents at the end, or an older "
            "pickle. What was read is neither: cut off, overwritten, or not such a file at all."
        ),
        causes=(
            "The download or the copy was interrupted, or the disk was full while saving.",
            (
                "The job was killed while it wrote, or two processes wrote the same file (DDP without a rank "
                "check)."
            ),
            (
                'The file is something else: an HTML page, a Git LFS pointer (text that begins with "version '
                "https://git-lfs…\": key 'v'), safetensors, a TorchScript archive."
            ),
        ),
        mend=(
            "git lfs pull                                  # a pointer instead of the file\n"
            "tmp = path + '.tmp'\n"
            "torch.save(state, tmp)\n"
            "os.replace(tmp, path)                         # never half a file"
        ),
        check="os.path.getsize(path) and zipfile.is_zipfile(path).",
        wrong=(
            "`weights_only=False`: the file is broken, or not what it says; running its pickle makes it worse.",
        ),
    ),
    Kind(
        slug="checkpoint-class-moved",
        chapter="checkpoints",
        says=(
            "sourcechangewarning",
            "source code of class '{name}' has changed",
            "can't get attribute '{name}' on <module '{module:w}'",
            "can't get attribute '{name}' on <module",
            "can't get attribute",
            "no module named '{module:w}'",
            "'{module:w}' object has no attribute '{name:w}'{...}unpickl",
            "module '{module:w}' has no attribute '{name:w}'",
        ),
        here=(
            "Here: {name} in module {module}.",
            "Here: module {module}.",
        ),
        types=(
            "AttributeError",
            "ModuleNotFoundError",
            "ImportError",
        ),
        needs=(
            "source code of class",
            "torch.load",
            "torch/serialization",
            "torch\\serialization",
            "unpickler",
            "can't get attribute",
            "no module named 'models",
            "no module named 'model'",
            "no module named 'utils.",
            "no module named 'ultralytics",
            "no module named 'numpy._core'",
            "no module named 'networks",
            "no module named 'model.",
            "no module named 'nets",
        ),
        unless=(
            "sklearn",
            "joblib",
            "pandas",
            "__mp_main__",
        ),
        anybodys=True,
        what=(
            "A model pickled whole is stored as the name of its class and its attributes. To load it, Python "
            "must import that class under the same name from the same module."
        ),
        causes=(
            "The class was defined in the training script (`__main__`) or a notebook, and this is another one.",
            "The module was renamed or moved, or its folder is not on the path.",
            "The file was written with NumPy 2 (`numpy._core`), and this is NumPy 1.",
        ),
        mend=(
            "torch.save(model.state_dict(), path)          # numbers and names only\n"
            "model = Net(); model.load_state_dict(torch.load(path, weights_only=True))\n"
            "import sys; sys.path.insert(0, 'yolov5')      # to open the old file once, and save it as above"
        ),
        check="from <module> import <class> works before torch.load.",
    ),
    Kind(
        slug="checkpoint-not-a-state-dict",
        chapter="checkpoints",
        says=(
            "expected state_dict to be dict-like, got {got}",
            "expected state_dict to be dict-like",
            "'collections.ordereddict' object has no attribute '{name:w}'",
            "'ordereddict' object has no attribute '{name:w}'",
            "'ordereddict' object is not callable",
            "collections.ordereddict' object is not callable",
            "'dict' object has no attribute 'eval'",
            "'dict' object has no attribute 'state_dict'",
            "'dict' object has no attribute 'load_state_dict'",
            "'dict' object has no attribute 'to'",
            "'dict' object has no attribute 'parameters'",
            "'dict' object is not callable",
            "'{model:w}' object has no attribute 'copy'",
            "object has no attribute 'copy'",
            "keyerror: 'state_dict'",
            "keyerror: 'model_state_dict'",
            "keyerror: 'optimizer_state_dict'",
            "keyerror: 'model'",
            "keyerror: 'epoch'",
            "keyerror: 'optimizer'",
        ),
        here=(
            "Here: got {got}.",
            "Here: `{name}` is asked of a dictionary.",
        ),
        needs=(
            "state_dict",
            "ordereddict",
            "torch",
            "'dict' object has no attribute 'eval'",
        ),
        unless=(
            "pandas",
            "keras",
        ),
        anybodys=True,
        what=(
            "A file holds what was saved: a model, its state_dict, or a dictionary with both. What was loaded "
            "is another of these than the line expects; weights alone are no model."
        ),
        causes=(
            "The file is a state_dict, and is used as a model.",
            "The file is a whole model or a whole checkpoint, and is given to load_state_dict.",
        ),
        mend=(
            "saved = torch.load(path, map_location='cpu', weights_only=True)\n"
            "print(type(saved), list(saved)[:5])\n"
            "model = Net()\n"
            "model.load_state_dict(saved.get('state_dict', saved))"
        ),
        check="list(saved)[:5] are names of parameters.",
    ),
    Kind(
        slug="checkpoint-shared-tensors",
        chapter="checkpoints",
        says=(
            "some tensors share memory, this will lead to duplicate memory on disk",
            "some tensors share memory",
            "the weights trying to be saved contained shared tensors",
            "contained shared tensors",
            "you are trying to save a non contiguous tensor",
        ),
        what=(
            "safetensors stores each tensor's own bytes: two names over one memory (tied weights), or a view, "
            "do not fit."
        ),
        causes=(
            "Tied weights (embedding and output layer).",
            "A slice or a transposed view is saved.",
        ),
        mend=(
            "from safetensors.torch import save_model\n"
            "save_model(model, path)                      # knows tied weights\n"
            "state = {k: v.contiguous().clone() for k, v in state.items()}"
        ),
        check="len({v.untyped_storage().data_ptr() for v in state.values()}) == len(state).",
    ),
    Kind(
        slug="typed-storage",
        chapter="checkpoints",
        says=(
            "typedstorage is deprecated",
            "untypedstorage will be the only storage class",
            "torch.storage{...}deprecated",
            "storage() is deprecated",
        ),
        needs=(
            "torch",
            "storage",
        ),
        what=(
            "A storage is bytes; its typed form goes away. The warning usually comes from a library's or an "
            "old file's use of `tensor.storage()`."
        ),
        causes=("`tensor.storage()` is called, or an old file is loaded.",),
        mend="x.untyped_storage()",
        check="python -W error::UserWarning shows the line.",
    ),
    Kind(
        slug="checkpoint-is-text",
        chapter="checkpoints",
        says=(
            (
                "weightsunpickler error: unsupported operand 60 check the documentation of torch.load to learn "
                "more about types accepted by default with weights_only"
            ),
            (
                "weightsunpickler error: unsupported operand 118 check the documentation of torch.load to learn "
                "more about types accepted by default with weights_only"
            ),
            "unsupported operand 60",
            "unsupported operand 118",
            "unpicklingerror: invalid load key, '<'",
            "unpicklingerror: invalid load key, 'v'",
        ),
        needs=("torch", "unpickl"),
        what=(
            "The file is text, not a checkpoint: a pickle begins with byte 128, a zip archive with `PK`. Byte "
            "60 is `<`, as in HTML; byte 118 is `v`, as in the pointer that Git LFS leaves (version "
            "https://git-lfs…)."
        ),
        causes=(
            "`v`: the repository was cloned without Git LFS, and the pointer (130 bytes) stands for the file.",
            "`<`: the download gave a web page: a login, a 404, Google Drive's virus warning.",
        ),
        mend=(
            "git lfs install && git lfs pull            # the file for its pointer\n"
            "curl -fLO URL                              # -f: an error page is no file"
        ),
        check="open(path, 'rb').read(20), and os.path.getsize(path).",
        wrong=("`weights_only=False`: the file is not what it says, and running it as a pickle can't help.",),
    ),
    Kind(
        slug="checkpoint-empty",
        chapter="checkpoints",
        says=(
            "eoferror: ran out of input",
            "eoferror",
        ),
        types=("EOFError",),
        needs=(
            "torch/serialization",
            "weights_only_unpickler",
            "_legacy_load",
            "torch.load(",
        ),
        anybodys=True,
        what="`torch.load` reached the file's end before anything was there: the file is empty or cut off.",
        causes=(
            "The job was killed, or the disk was full, while it was written: 0 bytes.",
            "A buffer is read from its end: `buffer.seek(0)` is missing after the save.",
            "Another process (another rank) is still writing it.",
        ),
        mend=(
            "buffer.seek(0)\n"
            "torch.save(state, path + '.tmp')\n"
            "os.replace(path + '.tmp', path)           # never half a file; one rank writes"
        ),
        check="os.path.getsize(path) > 0.",
    ),
    Kind(
        slug="checkpoint-file-missing",
        chapter="checkpoints",
        says=(
            "no such file or directory: '{path}'",
            "no such file or directory",
            "is a directory: '{path}'",
        ),
        here=("Here: {path}.",),
        types=(
            "FileNotFoundError",
            "IsADirectoryError",
        ),
        needs=("torch/serialization",),
        anybodys=True,
        what=(
            "The file is not where the path says. A relative path is read from the directory in which Python "
            "was started, not from the script's."
        ),
        causes=(
            "Started from another directory (an IDE, a notebook, a job on a cluster).",
            "Nothing was saved yet, or under another name; the weights must be downloaded first.",
        ),
        mend=(
            "path = Path(__file__).parent / 'checkpoints' / 'best.pt'\n"
            "saved = torch.load(path, map_location='cpu', weights_only=True)"
        ),
        check="Path(path).resolve(), and its .exists().",
    ),
    Kind(
        slug="save-directory-missing",
        chapter="checkpoints",
        says=("parent directory {directory} does not exist",),
        here=("Here: {directory}.",),
        what="`torch.save` writes a file; it makes no directory for it.",
        causes=(
            "The run's directory was never made (a fresh clone, another machine, a name with a date in it).",
            "A relative path, and Python was started in another directory.",
        ),
        mend=(
            "path.parent.mkdir(parents=True, exist_ok=True)      # a pathlib.Path\ntorch.save(state, path)"
        ),
        check="path.parent.is_dir(), asked before the training, not after it.",
    ),
    Kind(
        slug="save-interrupted",
        chapter="checkpoints",
        says=(
            "[enforce fail at inline_container.cc:{line:d}] . unexpected pos {a:d} vs {b:d}",
            "unexpected pos {a:d} vs {b:d}",
            "unexpected pos",
            "pytorchstreamwriter failed writing file {file}: file write failed",
            "pytorchstreamwriter failed",
        ),
        here=(
            "Here: the file is at byte {a}, and {b} was expected.",
            "Here: {file}.",
        ),
        what=(
            "While `torch.save` wrote the archive, the system took fewer bytes than it was given. The file is "
            "not usable; a checkpoint of the same name from before is gone, too."
        ),
        causes=(
            "The disk, the quota or the container's space is full.",
            "The network drive, or the file object given to save, went away.",
        ),
        mend=(
            "tmp = path + '.tmp'\n"
            "torch.save(state, tmp)\n"
            "os.replace(tmp, path)                     # the old one stays until the new one is whole"
        ),
        check="shutil.disk_usage(folder).free is more than two checkpoints.",
    ),
    Kind(
        slug="save-pickling",
        chapter="checkpoints",
        says=(
            "attributeerror: can't pickle local object '{object}'",
            "attributeerror: can't get local object '{object}'",
            "typeerror: cannot pickle '{object}' object",
            "picklingerror: can't pickle {object}: ",
            "picklingerror: can't pickle <function {object}",
        ),
        here=("Here: {object}.",),
        needs=(
            "torch/serialization.py",
            "torch.save(",
        ),
        anybodys=True,
        what=(
            "`torch.save` of a whole object pickles it: a class or function is stored as its name, which must "
            "be importable. A lambda, a class inside a function, an open file or a lock has no such name."
        ),
        causes=(
            "The model itself is saved, and it holds a lambda or a class defined inside a function.",
            (
                "The checkpoint's dict holds more than tensors and numbers: a scheduler with a lambda, a logger, "
                "a loader."
            ),
        ),
        mend=(
            "torch.save(model.state_dict(), path)          # tensors only: loads everywhere\n"
            "torch.save({'model': model.state_dict(), 'optimizer': opt.state_dict(), 'epoch': epoch}, path)"
        ),
        check="torch.load(path, weights_only=True) works.",
    ),
    Kind(
        slug="save-arguments",
        chapter="checkpoints",
        says=(
            "save() missing 1 required positional argument: 'f'",
            "load() missing 1 required positional argument: 'f'",
        ),
        needs=("'f'",),
        what="`torch.save(what, where)`: first the object, then the path or the open file; `torch.load(where)`.",
        causes=("The path is missing, or a bracket closes too early.",),
        mend="torch.save(model.state_dict(), 'model.pt')",
        check="os.path.getsize('model.pt') > 0.",
    ),
    Kind(
        slug="checkpoint-memory",
        chapter="checkpoints",
        says=("memoryerror",),
        types=("MemoryError",),
        needs=("torch/serialization",),
        anybodys=True,
        what=(
            "While the file was read, more memory was asked for than there is: for the tensors in it, or for a "
            "size that is nonsense."
        ),
        causes=(
            "The file is damaged: a length in it is read from the wrong bytes.",
            "It really is larger than the memory (a whole training state, or both model and file at once).",
        ),
        mend="saved = torch.load(path, map_location='cpu', mmap=True, weights_only=True)     # read as needed",
        check="os.path.getsize(path) beside psutil.virtual_memory().available.",
    ),
)
