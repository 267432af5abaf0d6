"""Several processes: DDP, NCCL, rendezvous."""

from ..data import Kind

KINDS = (
    Kind(
        slug="ddp-unused-parameters",
        chapter="autograd",
        says=(
            "expected to have finished reduction in the prior iteration",
            "find_unused_parameters=true",
            "parameters that were not used in producing loss",
            "expected to mark a variable ready only once",
            "parameter indices which did not receive grad for rank",
            "doesn't have any parameters that require a gradient",
            "module's parameters{...}reducer",
        ),
        needs=(
            "torch",
            "ddp",
            "distributeddataparallel",
            "reduction",
            "parameter",
            "unused",
        ),
        what=(
            "DDP waits in each backward until every parameter's gradient has arrived, then averages over the "
            "processes. A parameter that this forward did not use never arrives."
        ),
        causes=(
            "A branch or a layer is not used in each step, or an output is left out of the loss.",
            "A reentrant checkpoint marks a parameter twice.",
        ),
        mend=(
            "model = DDP(model, device_ids=[rank], find_unused_parameters=True)     # costs a walk over the "
            "graph each step\n"
            "# better: remove the unused layers, or use every output in the loss"
        ),
        check="TORCH_DISTRIBUTED_DEBUG=DETAIL names the parameters.",
    ),
    Kind(
        slug="nccl-failure",
        chapter="devices",
        says=(
            "nccl error in",
            "ncclunhandledcudaerror",
            "ncclsystemerror",
            "ncclinternalerror",
            "ncclinvalidusage",
            "ncclremoteerror",
            "ncclinvalidargument",
            "unhandled system error, nccl version",
            "unhandled cuda error, nccl version",
            "nccl version",
            "duplicate gpu detected : rank {a:d} and rank {b:d} both on cuda device",
            "duplicate gpu detected",
            "nccl error",
            "nccl communicator was aborted",
            "collective operation timeout",
            "nccl operations have failed",
            "processgroupnccl is only supported with gpus, no gpus found",
            "no gpus found",
            "doesn't have nccl built in",
            "using barrier{...}devices used by this process are currently unknown",
            "processgroupnccl",
            "detected mismatch between collectives on ranks",
            "tensors must be cuda and dense",
            "destroy_process_group() was not called",
            "heartbeat monitor timed out",
            "nccl_",
            "monitored_barrier",
            "watchdogtimeout",
        ),
        unless=(
            "tensorflow",
            "jaxlib",
            "undefined symbol",
            "libnccl.so",
        ),
        what=(
            "NCCL moves data between cards. Each process drives one card, and all must call the same "
            "operations in the same order."
        ),
        causes=(
            "Two processes use one card: `torch.cuda.set_device(local_rank)` is missing.",
            (
                "One process died, or took another branch, and the others wait until the timeout: look for the "
                "first error of all ranks."
            ),
            (
                "Network or shared memory: the wrong interface, a small /dev/shm in a container; no NCCL on "
                "Windows (use gloo)."
            ),
        ),
        mend=(
            "torch.cuda.set_device(local_rank)\n"
            "dist.init_process_group('nccl')\n"
            "# shell: NCCL_DEBUG=INFO TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun …"
        ),
        check="NCCL_DEBUG=INFO names the rank and the cause; the log of the rank that failed first.",
    ),
    Kind(
        slug="process-group",
        chapter="devices",
        says=(
            "childfailederror: =",
            "signalexception: process {pid:d} got signal",
            "need to initialize default process group using",
            "default process group is not initialized",
            "default process group has not been initialized",
            "trying to initialize the default process group twice",
            "environment variable rank expected, but not set",
            "environment variable {name:w} expected, but not set",
            "error initializing torch.distributed using env:// rendezvous",
            "env:// rendezvous",
            "failed to listen on any local network address",
            "address already in use{...}tcpstore",
            "timed out initializing process group in store based barrier",
            "in store based barrier",
            "connect() timed out. original timeout was",
            "the client socket has timed out after",
            "the client socket has failed to connect",
            "client socket has",
            "connection reset by peer{...}gloo",
            "connection closed by peer [",
            "gloo/transport",
            "childfailederror",
            "rendezvoustimeouterror",
            "rendezvousconnectionerror",
            "torch.distributed.elastic",
            "sending process {pid:d} closing signal",
            "failed (exitcode: {code:d}) local_rank: {rank:d}",
            "torch.distributed.launch is deprecated",
            "unrecognized arguments: --local_rank",
            "unrecognized arguments: --local-rank",
            "tcpstore",
            "processraisedexception",
            "-- process {rank:d} terminated with the following error",
            "process {rank:d} terminated with",
            "processexitedexception",
            "world size",
            "socket timeout",
            "torch.distributed{...}has no attribute",
            "invalid scalar type{...}all_gather",
            "backend {...}not supported in distributed",
            "unknown c10d backend type",
            "distnetworkerror",
            "diststoreerror",
            "distbackenderror",
            "libuv",
            "got torch.distributed tensor",
        ),
        reads=(
            "failed (exitcode: {code:d}) local_rank: {rank:d}",
            "environment variable {name:w} expected",
        ),
        here=(
            "Here: {name} is not set.",
            "Here: local rank {rank} ended with {code}.",
        ),
        needs=(
            "childfailed",
            "torch",
            "process group",
            "rank",
            "rendezvous",
            "gloo",
            "elastic",
            "socket",
            "store",
            "c10d",
            "process",
        ),
        unless=(
            "tensorflow",
            "horovod",
            "jaxlib",
            "urllib3",
            "requests.exceptions",
            "redis",
        ),
        wraps=True,
        anybodys=True,
        what=(
            "Processes find one another through an address that all know (MASTER_ADDR, MASTER_PORT, RANK, "
            "WORLD_SIZE; `torchrun` sets them). The error of one of them ends all."
        ),
        causes=(
            "The script was started without torchrun, or init_process_group was not called first (or twice).",
            "The port is taken by an earlier run, or the address can't be reached.",
            "One process failed first: its own traceback stands above.",
        ),
        mend="torchrun --nproc-per-node=2 --master-port=29511 train.py",
        check="The traceback of the process that failed first; one process alone: torchrun --nproc-per-node=1.",
    ),
)
