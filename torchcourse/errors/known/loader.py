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
            "this dataloader will create {workers:d} worker processes in total",
            "which is smaller than what this dataloader is going to create",
            "this dataloader will create",
        ),
        reads=("our suggested max number of worker in current system is {suggested:d}",),
        here=("Here: {workers} workers, and {suggested} are suggested.",),
        what=(
            "Workers are processes on this computer's cores; more of them than cores wait for one another, and "
            "one that waits for a lock or a network never answers."
        ),
        causes=(
            "num_workers is larger than the cores (or than the container's share).",
            "A worker hangs: a lock held at fork, OpenCV or OpenMP threads, a slow disk.",
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
            "length of split at index",
            "absolute value of index should not exceed dataset length",
            "concatdataset does not support iterabledataset",
            "pin_memory_device is deprecated",
            "indices should be{...}sampler",
            "requires distributed package to be available",
            "argument is set as true but not supported on mps",
            "num_samples should be a positive integer value, but got num_samples={n:d}",
            "num_samples should be a positive integer value",
            "batch_size should be a positive integer value",
            "sampler option is mutually exclusive with shuffle",
            "batch_sampler option is mutually exclusive",
            "prefetch_factor option could only",
            "timeout option should be non-negative",
            "num_workers option should be non-negative",
            "persistent_workers option needs num_workers > 0",
            "multiprocessing_context can only be used with",
            "multiprocessing_context option should",
            "'dataloader' object is not subscriptable",
            "'dataloader' object is not an iterator",
            "'dataloader' object does not support indexing",
            "dataset should not be an empty iterable",
            "sum of input lengths does not equal the length of the input dataset",
            "sum of input lengths",
            "torch.utils.data.dataset.subset",
            "'subset' object has no attribute '{name:w}'",
            "drop_last should be a boolean",
            "found no valid file for the classes",
            "couldn't find any class folder in",
            "found 0 files in subfolders of",
            "dataset not found. you can use download=true",
            "size mismatch between tensors",
            "subclasses of dataset should implement __getitem__",
            "argument is set as true but no accelerator is found",
            "sampler{...}infinite",
        ),
        needs=(
            "batch_sampler",
            "auto-batching",
            "weights should",
            "replacement",
            "rank",
            "split at index",
            "datasets",
            "pin_memory",
            "torch",
            "sampler",
            "dataloader",
            "num_samples",
            "batch_size",
            "num_workers",
            "dataset",
            "prefetch",
            "class folder",
            "valid file",
            "files in subfolders",
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
            "A loader's options depend on one another: a sampler is the order, workers are needed for "
            "prefetching; a random sampler needs at least one sample."
        ),
        causes=(
            "The dataset is empty: a wrong path or pattern (`len(dataset) == 0`).",
            "`shuffle=True` together with a sampler.",
            "A loader is indexed: it is iterated.",
        ),
        mend=(
            "assert len(dataset) > 0, dataset\n"
            "loader = DataLoader(dataset, batch_size=8, sampler=sampler)     # no shuffle\n"
            "first = next(iter(loader))"
        ),
        check="len(dataset), and dataset[0].",
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
)
