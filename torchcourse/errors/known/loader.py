"""Data: samples, batches, and the processes that fetch them."""

from ..data import Kind

KINDS = (
    Kind(
        slug="collate-type",
        chapter="training",
        says=(
            "batches of nested tensors are not currently supported by the default collate_fn",
            "batches of sparse tensors are not currently supported by the default collate_fn",
            "default collate_fn",
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {found}",
            "batch must contain tensors, numpy arrays, numbers, dicts or lists",
            "batch must contain tensors, numbers, dicts or lists",
            "batch must contain numbers, dicts or lists",
            "default_collate: batch must contain",
        ),
        reads=("dicts or lists; found {found}",),
        here=("Here: a sample has a {found}.",),
        what=(
            "`default_collate` makes a batch of tensors, arrays, numbers, dicts and lists. It has no rule for "
            "other things."
        ),
        causes=(
            "`__getitem__` returns None on one of its paths (a file that could not be read).",
            "The transform ToTensor is missing, so the sample is still a PIL image.",
            "A label is an object of your own.",
        ),
        mend=(
            "transform = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])\n"
            "def collate(samples):\n"
            "    return default_collate([s for s in samples if s is not None])"
        ),
        check="type(dataset[i]) and its parts, for all i.",
    ),
    Kind(
        slug="worker-killed",
        chapter="training",
        says=(
            "dataloader worker (pid {pid:d}) is killed by signal: {signal}",
            "dataloader worker (pid",
            "is killed by signal",
            "insufficient shared memory (shm)",
            "it is possible that dataloader's workers are out of shared memory",
            "out of shared memory",
            "unable to open shared memory object",
            "unable to write to file </torch_",
            "unable to mmap",
            "could not unlink the shared memory file",
            "no space left on device{...}torch_",
            "unexpected bus error encountered in worker",
            "unable to resize file",
            "could not allocate shared memory",
            "shm_open",
            "torch_shm_manager",
        ),
        reads=("worker (pid {pid:d}) is killed by signal: {signal:w}",),
        here=("Here: process {pid}, signal {signal}.",),
        needs=(
            "torch",
            "dataloader",
            "worker",
            "shm",
            "shared memory",
        ),
        what=(
            "A worker process was ended from outside. Workers send batches through shared memory (/dev/shm), "
            'which a container often limits to 64 MB ("Bus error"); and each worker adds its own memory to '
            'the computer\'s ("Killed", by the system, when RAM is used up).'
        ),
        causes=(
            (
                "RAM: workers × prefetched batches, or a list of Python objects that each worker slowly copies "
                "(fork, reference counts)."
            ),
            "Shared memory is small (Docker).",
            "A crash in native code (Segmentation fault): OpenCV threads, a broken file.",
        ),
        mend=(
            "docker run --shm-size=8g …            # or --ipc=host\n"
            "loader = DataLoader(data, num_workers=2, prefetch_factor=2)\n"
            "torch.multiprocessing.set_sharing_strategy('file_system')"
        ),
        check="df -h /dev/shm and the computer's free memory while it runs; num_workers=0 shows the real error.",
        wrong=("`num_workers=0` for ever: good to find the fault, but the GPU then waits for data.",),
    ),
    Kind(
        slug="worker-exited",
        chapter="training",
        says=(
            "can only test a child process",
            "broken pipe",
            "connection reset by peer",
            "cannot allocate memory",
            "dataloader worker (pid(s) {pid}) exited unexpectedly",
            "exited unexpectedly",
        ),
        needs=(
            "child process",
            "dataloader",
            "worker",
        ),
        wraps=True,
        anybodys=True,
        what=(
            "A worker process ended without a word through its queue: it was killed, it crashed, or it could "
            "not start."
        ),
        causes=(
            (
                "Windows, macOS or `spawn`: the script has no `if __name__ == '__main__':`, so every worker runs "
                "it again."
            ),
            "The system killed it: RAM or shared memory is used up.",
            "A crash in native code.",
        ),
        mend=(
            "def main():\n"
            "    for batch in DataLoader(data, num_workers=2): ...\n"
            "\n"
            "if __name__ == '__main__':\n"
            "    main()"
        ),
        check="num_workers=0 shows the error itself; then raise it again.",
        wrong=("`num_workers=0` for ever: good to find the fault, but the GPU then waits for data.",),
    ),
    Kind(
        slug="worker-raised",
        chapter="training",
        says=(
            "caught {type:w} in dataloader worker process {worker:d}",
            "in dataloader worker process",
            "in pin memory thread for device",
            "caught {type:w} in pin memory thread",
        ),
        here=("Here: a {type} in worker {worker}.",),
        wraps=True,
        what=(
            "The dataset or the collate function raised in a worker process; the loader raises it again here. "
            'The lower traceback ("Original Traceback") is the real place.'
        ),
        causes=("An error in your `__getitem__`, transform or collate_fn.",),
        mend=(
            "dataset[i]                                        # the sample by itself\n"
            "next(iter(DataLoader(dataset, batch_size=8)))      # num_workers=0: an ordinary traceback"
        ),
        check="for i in range(len(dataset)): dataset[i]",
    ),
    Kind(
        slug="spawn-without-main",
        chapter="training",
        says=(
            "finished its bootstrapping phase",
            "start a new process before the",
        ),
        what=(
            "With `spawn` (Windows, macOS) a worker is a new Python that imports your script. Without a guard "
            "it starts workers again."
        ),
        causes=("The loop over the loader stands at module level.",),
        mend=(
            "def main():\n"
            "    for batch in DataLoader(data, num_workers=2): ...\n"
            "\n"
            "if __name__ == '__main__':\n"
            "    main()"
        ),
        check="python -c 'import train' starts nothing.",
        wrong=("`num_workers=0` for ever: the loader then works between the steps, not beside them.",),
    ),
    Kind(
        slug="worker-pickling",
        chapter="training",
        says=(
            "h5py objects cannot be pickled",
            "cannot be pickled",
            "got pickle error when attempting to start a worker process",
            "can't pickle local object '{object}'",
            "can't get local object '{object}'",
            "can't pickle {object} objects",
            "cannot pickle '{object}' object",
            "can't pickle <function {object}",
            "can't pickle <class",
            "can't pickle _thread",
            "attribute lookup {object} on __main__ failed",
            "can't get attribute '{object}' on <module '__mp_main__'",
            "ran out of input",
            "can't pickle",
            "cannot pickle",
            "can't pickle local object",
        ),
        here=("Here: {object}.",),
        types=(
            "AttributeError",
            "TypeError",
            "PicklingError",
            "EOFError",
            "RuntimeError",
            "NotImplementedError",
        ),
        needs=(
            "h5py objects",
            "dataloader",
            "torch",
            "popen_spawn",
            "spawn",
            "local object",
            "lambda",
            "__mp_main__",
            "picklingerror",
            "ran out of input",
            "cannot pickle",
            "can't pickle",
        ),
        unless=(
            "pandas",
            "joblib",
            "sklearn",
            "loky",
            "concurrent.futures",
        ),
        anybodys=True,
        what=(
            "What goes to another process is pickled: the dataset, its transforms, collate_fn and "
            "worker_init_fn. A pickle holds a function's or class's name; lambdas and local functions have "
            "none that another process could import, and open files, locks and generators can't travel at all. "
            "(`torch.save` of a whole model pickles in the same way.)"
        ),
        causes=(
            "A lambda or a function inside a function is a transform, collate_fn or worker_init_fn.",
            "The dataset holds an open file, a database connection, a lock, or a CUDA tensor.",
            "The class is defined in a notebook, on Windows or macOS.",
        ),
        mend=(
            "def to_float(x):            # at module level, in a file, instead of a lambda\n"
            "    return x.float()\n"
            "class Data(Dataset):\n"
            "    def __getitem__(self, i):\n"
            "        if self.file is None:\n"
            "            self.file = h5py.File(self.path)     # opened in the worker"
        ),
        check="pickle.dumps(dataset) works.",
        wrong=("`num_workers=0` for ever.",),
    ),
    Kind(
        slug="too-many-open-files",
        chapter="training",
        says=(
            "too many open files",
            "received 0 items of ancdata",
            "unable to open file descriptor",
            "communication with the workers is no longer possible",
        ),
        what=(
            "Workers hand over tensors as file descriptors, one per tensor; each process may hold a limited "
            "number (often 1024)."
        ),
        causes=(
            "Batches, or parts of them, are kept in a list: their descriptors stay open.",
            "Many workers with many small tensors per sample.",
        ),
        mend=(
            "torch.multiprocessing.set_sharing_strategy('file_system')\n"
            "kept.append(batch.clone())      # own memory, no descriptor\n"
            "# shell: ulimit -n 65536"
        ),
        check="len(os.listdir('/proc/self/fd')) stays level over an epoch.",
    ),
    Kind(
        slug="worker-timeout",
        chapter="training",
        says=(
            "dataloader timed out after {seconds:n} seconds",
            "dataloader timed out after",
            "pin memory thread exited unexpectedly",
        ),
        here=("Here: it waited {seconds} seconds.",),
        what=(
            "The loop waited for a batch, and no worker gave one in time: one that waits for a lock or a "
            "network never answers."
        ),
        causes=(
            "A worker hangs: a lock held at fork, OpenCV or OpenMP threads, a slow disk.",
            "num_workers is larger than the cores (or than the container's share).",
        ),
        mend=("loader = DataLoader(data, num_workers=min(8, os.cpu_count() or 1))\ncv2.setNumThreads(0)"),
        check="len(os.sched_getaffinity(0)) >= num_workers.",
    ),
    Kind(
        slug="iterable-dataset-options",
        chapter="training",
        says=(
            "'iterabledataset' has no len()",
            "'iterabledataset' object is not subscriptable",
            "'iterabledataset'",
            "dataloader with iterabledataset: expected unspecified {option:w} option",
            "dataloader with iterabledataset",
            "object of type '{type:w}' has no len(){...}iterable",
            "length of iterabledataset",
            "iterabledataset{...}length",
            "should have an integer length",
            "was reported to be {said:d} (when accessing len(dataloader)), but",
            "(when accessing len(dataloader)), but",
        ),
        here=("Here: the option is {option}.",),
        needs=(
            "torch",
            "iterabledataset",
            "dataloader",
        ),
        what=(
            "An IterableDataset gives samples in its own order and has no positions: there is nothing that a "
            "sampler could shuffle."
        ),
        causes=(
            "`shuffle=True`, a sampler, or a batch_sampler is given with it.",
            "`__len__` and the number of samples differ (each worker runs the whole iterator).",
        ),
        mend="loader = DataLoader(stream, batch_size=8)      # shuffle inside __iter__, with a buffer",
        check="Samples seen over one epoch: each once, also with workers (get_worker_info()).",
    ),
    Kind(
        slug="loader-options",
        chapter="training",
        says=(
            "batch_size=none option disables auto-batching",
            "prefetch_factor option should be",
            "attribute should not be set after dataloader is initialized",
            "weights should be a 1d sequence",
            "replacement should be a boolean value",
            "invalid rank {rank:d}, rank should be in the interval",
            "size mismatch between datasets",
            "absolute value of index should not exceed dataset length",
            "concatdataset does not support iterabledataset",
            "pin_memory_device is deprecated",
            "indices should be{...}sampler",
            "requires distributed package to be available",
            "argument is set as true but not supported on mps",
            "batch_size should be a positive integer value",
            "sampler option is mutually exclusive with shuffle",
            "batch_sampler option is mutually exclusive",
            "prefetch_factor option could only",
            "timeout option should be non-negative",
            "num_workers option should be non-negative",
            "persistent_workers option needs num_workers > 0",
            "multiprocessing_context can only be used with",
            "multiprocessing_context option should",
            "torch.utils.data.dataset.subset",
            "'subset' object has no attribute '{name:w}'",
            "drop_last should be a boolean",
            "size mismatch between tensors",
            "subclasses of dataset should implement __getitem__",
            "sampler{...}infinite",
        ),
        needs=(
            "batch_sampler",
            "auto-batching",
            "weights should",
            "replacement",
            "rank",
            "datasets",
            "pin_memory",
            "torch",
            "sampler",
            "dataloader",
            "batch_size",
            "num_workers",
            "dataset",
            "prefetch",
            "'subset'",
            "persistent_workers",
            "drop_last",
            "timeout option",
            "size mismatch between tensors",
        ),
        unless=(
            "tensorflow",
            "keras",
            "sklearn",
        ),
        what=(
            "A loader's options depend on one another: a sampler is the order, a batch_sampler the batches, "
            "too; prefetching needs workers."
        ),
        causes=(
            "An option of workers (prefetch_factor, persistent_workers, timeout) with num_workers=0.",
            "`shuffle=True`, batch_size or drop_last together with a sampler that decides it already.",
            "A `Subset` has the dataset inside (`subset.dataset.targets`, at `subset.indices`).",
        ),
        mend=(
            "loader = DataLoader(dataset, batch_size=8, sampler=sampler)     # no shuffle\n"
            "loader = DataLoader(dataset, batch_size=8, num_workers=2, prefetch_factor=4)"
        ),
        check="next(iter(loader)) gives a batch; len(loader).",
    ),
    Kind(
        slug="cuda-in-worker",
        chapter="devices",
        says=(
            "cannot re-initialize cuda in forked subprocess",
            "to use cuda with multiprocessing, you must use the 'spawn' start method",
            "producer process tried to deallocate",
            "producer process has been terminated before all shared cuda tensors released",
            "only dense cpu tensors can be pinned",
            "cudaipcopenmemhandle",
            "initialization error{...}fork",
            "caught runtimeerror in pin memory thread",
            "invalid device pointer{...}ipc",
            "need to share cuda",
        ),
        what=(
            "A forked process inherits CUDA's state without its threads and contexts: it cannot use the GPU. "
            "And pinned memory is CPU memory: a tensor that is already on the GPU can't be pinned."
        ),
        causes=(
            "`__getitem__` or collate_fn makes or moves tensors on the GPU, with workers (fork).",
            "The dataset already holds CUDA tensors, and pin_memory=True.",
            "torch.multiprocessing by fork, after CUDA was used.",
        ),
        mend=(
            "for x, y in loader:                     # workers stay on the CPU\n"
            "    x = x.to(device, non_blocking=True)\n"
            "torch.multiprocessing.set_start_method('spawn')    # where a process must use CUDA"
        ),
        check="dataset[0][0].device is cpu.",
    ),
    Kind(
        slug="dataset-empty",
        chapter="training",
        says=(
            "num_samples should be a positive integer value, but got num_samples={n:d}",
            "num_samples should be a positive integer value",
            "found no valid file for the classes",
            "couldn't find any class folder in {folder}",
            "found 0 files in subfolders of: {folder}",
            "found 0 files in subfolders of",
            "dataset not found. you can use download=true",
            "dataset should not be an empty iterable",
        ),
        here=(
            "Here: {folder}.",
            "Here: {n} samples.",
        ),
        what="The dataset has no samples: nothing was found where it looked, or all was filtered out.",
        causes=(
            "The path is wrong, or relative to another directory than the one Python was started in.",
            "The files have other endings than the pattern (.JPG beside .jpg), or lie a folder higher or deeper.",
            "A filter or a split left nothing.",
        ),
        mend=(
            "files = sorted(Path(root).rglob('*.jpg'))\nassert files, f'nothing in {Path(root).resolve()}'"
        ),
        check="len(dataset), and dataset[0].",
    ),
    Kind(
        slug="split-lengths",
        chapter="training",
        says=(
            "sum of input lengths does not equal the length of the input dataset",
            "sum of input lengths",
            "length of split at index",
        ),
        needs=(
            "torch",
            "dataset",
            "split at index",
        ),
        what=(
            "`random_split` gives each sample to one part: the lengths must add up to len(dataset), or be "
            "fractions that add up to 1."
        ),
        causes=(
            "int(0.8 * n) and int(0.2 * n) are both rounded down: one sample is left over.",
            "The lengths were written for another version of the data.",
        ),
        mend="train, test = random_split(data, [0.8, 0.2], generator=torch.Generator().manual_seed(0))",
        check="len(train) + len(test) == len(data).",
    ),
    Kind(
        slug="dataset-without-length",
        chapter="training",
        says=("object of type '{type:w}' has no len()",),
        here=("Here: {type} has no `__len__`.",),
        types=("TypeError",),
        needs=(
            "torch/utils/data/sampler.py",
            "torch/utils/data/dataloader.py __len__",
        ),
        unless=("'nonetype'",),
        anybodys=True,
        what=(
            "A sampler draws positions from 0 to len(dataset) - 1, so a dataset with `__getitem__` must have "
            "`__len__`, too. A stream without a length is an IterableDataset."
        ),
        causes=(
            "`__len__` is missing, misspelt, or indented into another method.",
            "A generator or an iterator was given as the dataset.",
        ),
        mend=(
            "class Lines(Dataset):\n"
            "    def __len__(self):\n"
            "        return len(self.lines)\n"
            "loader = DataLoader(list(generator), batch_size=8, shuffle=True)"
        ),
        check="len(dataset) works.",
    ),
    Kind(
        slug="collate-keys-differ",
        chapter="training",
        says=("keyerror: {key}",),
        here=("Here: the key is {key}.",),
        types=("KeyError",),
        needs=("torch/utils/data/_utils/collate.py",),
        anybodys=True,
        what=(
            "`default_collate` makes a batch of dicts by the keys of the first sample: every other sample must "
            "have each of them."
        ),
        causes=(
            "Some samples lack an entry: a label that is not always there, a branch in `__getitem__`.",
            "Samples of two kinds (labelled and not, train and test) are in one dataset.",
        ),
        mend=(
            "return {'x': x, 'y': -1 if y is None else y}      # the same keys, always\n"
            "loader = DataLoader(data, batch_size=8, collate_fn=list)     # or: a list of samples"
        ),
        check="{tuple(sorted(dataset[i])) for i in range(len(dataset))} has one entry.",
    ),
    Kind(
        slug="batch-is-a-container",
        chapter="training",
        says=(
            "'list' object has no attribute 'to'",
            "'list' object has no attribute 'cuda'",
            "'tuple' object has no attribute 'to'",
            "'tuple' object has no attribute 'cuda'",
            "'dict' object has no attribute 'to'",
            "'dict' object has no attribute 'cuda'",
            "'str' object has no attribute 'to'",
            "'str' object has no attribute 'cuda'",
            "'int' object has no attribute 'to'",
            "'{type:w}' object has no attribute 'to'",
        ),
        here=("Here: a {type} came.",),
        types=("AttributeError",),
        needs=(
            "'list' object",
            "'tuple' object",
            "'dict' object",
            "'str' object",
            "'int' object",
        ),
        anybodys=True,
        what=(
            "`.to()` belongs to tensors and modules. A batch from a DataLoader is what the dataset gives, "
            "collated: (x, y) becomes a list of tensors, a dict stays a dict, texts stay texts."
        ),
        causes=(
            "The batch is (inputs, targets), and the line moves it as one.",
            "An entry holds texts or file names (or collate_fn gives a list): those stay where they are.",
            "The dataset gives more than the loop unpacks.",
        ),
        mend=(
            "for x, y in loader:\n"
            "    x, y = x.to(device), y.to(device)\n"
            "batch = {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items()}     # a dict"
        ),
        check="type(batch), and [type(part) for part in batch].",
    ),
    Kind(
        slug="loader-is-no-iterator",
        chapter="training",
        says=(
            "'_multiprocessingdataloaderiter' object has no attribute 'next'",
            "'_singleprocessdataloaderiter' object has no attribute 'next'",
            "'dataloader' object is not subscriptable",
            "'dataloader' object is not an iterator",
            "'dataloader' object does not support indexing",
        ),
        what=(
            "A DataLoader can be iterated, many times, and has no positions: `iter(loader)` starts a pass, and "
            "`next()` takes a batch of it. (The method `.next()` of old versions is gone.)"
        ),
        causes=(
            "`next(loader)` or `loader[0]`: the loader itself is no iterator and no list.",
            "`iterator.next()`, from code for Python 2 or torch before 1.13.",
        ),
        mend=(
            "batch = next(iter(loader))       # the first batch of a new pass\n"
            "sample = loader.dataset[0]       # one sample"
        ),
        check="x, y = next(iter(loader)) gives tensors.",
    ),
    Kind(
        slug="pinning-without-accelerator",
        chapter="training",
        says=("argument is set as true but no accelerator is found",),
        what=(
            "pin_memory puts batches into memory that a GPU can read while Python runs on. Without a GPU there "
            "is nothing to gain: PyTorch leaves it out, and the data is the same."
        ),
        causes=(
            "The code was written for a GPU, and runs on a CPU.",
            "A GPU should be there, and torch doesn't see it (a CPU build, no driver).",
        ),
        mend="loader = DataLoader(data, pin_memory=torch.cuda.is_available())",
        check="torch.cuda.is_available().",
    ),
    Kind(
        slug="worker-count",
        chapter="training",
        says=(
            (
                "this dataloader will create {workers:d} worker processes in total. our suggested max number of "
                "worker in current system is {suggested:d}"
            ),
            "which is smaller than what this dataloader is going to create",
            "this dataloader will create",
        ),
        here=("Here: {workers} workers, and {suggested} are suggested.",),
        what=(
            "Workers are processes on this computer's cores (or a container's share of them): more of them "
            "than cores wait for one another, and each takes memory."
        ),
        causes=("num_workers was chosen for a larger machine.",),
        mend="loader = DataLoader(data, num_workers=min(8, len(os.sched_getaffinity(0))))",
        check="Samples per second of an empty loop over the loader, with 0, 2, 4 … workers.",
    ),
    Kind(
        slug="collate-sizes-old",
        chapter="training",
        says=(
            (
                "invalid argument 0: sizes of tensors must match except in dimension 0. got {first:d} and "
                "{second:d} in dimension {dimension:d}"
            ),
        ),
        here=("Here: {first} and {second} in dimension {dimension}, where 0 is the batch.",),
        needs=(
            "collate",
            "dataloader",
        ),
        anybodys=True,
        what=(
            "`default_collate` stacks the samples of a batch, so their shapes must be equal. (Up to 1.4 the "
            "text was that of `cat`; today: stack expects each tensor to be equal size.)"
        ),
        causes=(
            "Images of several sizes: the transform keeps the aspect ratio, or there is no Resize.",
            "Sequences of several lengths.",
        ),
        mend=(
            "transforms.Resize((256, 256))                 # both sides; Resize(256) keeps the ratio\n"
            "def collate(samples):\n"
            "    inputs, targets = zip(*samples)\n"
            "    return torch.nn.utils.rnn.pad_sequence(inputs, batch_first=True), list(targets)"
        ),
        check="{tuple(x.shape) for x, _ in dataset} has one entry, or collate_fn pads.",
    ),
    Kind(
        slug="start-method-set",
        chapter="training",
        says=("context has already been set",),
        types=("RuntimeError",),
        needs=(
            "torch",
            "dataloader",
        ),
        anybodys=True,
        what=(
            "The way in which Python starts processes (fork, spawn) is set once, for all: a second call is refused."
        ),
        causes=(
            "A cell was run twice, or a library set it before.",
            "The call stands at module level, and each spawned worker runs it again.",
        ),
        mend=(
            "if __name__ == '__main__':\n"
            "    torch.multiprocessing.set_start_method('spawn', force=True)\n"
            "loader = DataLoader(data, num_workers=2, multiprocessing_context='spawn')     # for this loader only"
        ),
        check="torch.multiprocessing.get_start_method().",
    ),
)
