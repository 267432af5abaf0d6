"""Reproducibility: deterministic algorithms, generators and their states."""

from ..data import Kind

KINDS = (
    Kind(
        slug="nondeterministic-operator",
        chapter="randomness",
        says=(
            (
                "{operator:w} does not have a deterministic implementation, but you set "
                "'torch.use_deterministic_algorithms(true)'"
            ),
            "does not have a deterministic implementation",
            "torch.set_deterministic(true)",
            "use_deterministic_algorithms(true)",
            "deterministic behavior was enabled with either",
            "cublas_workspace_config",
            "is not deterministic because it uses",
            "you can turn off determinism just for this operation",
        ),
        here=("Here: {operator}.",),
        what=(
            "Some kernels add in an order that changes from run to run (atomic adds, split reductions), and "
            "floats added in another order give other last digits. `use_deterministic_algorithms(True)` "
            "refuses those that have no fixed-order twin."
        ),
        causes=(
            (
                "An operator without a deterministic form on this device (scatter, index_add, interpolate's "
                "backward, cumsum, …)."
            ),
            "cuBLAS without a fixed workspace (torch 1.7 to about 2.1, CUDA 10.2 and later).",
        ),
        mend=(
            "CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py          # before the process starts\n"
            "torch.use_deterministic_algorithms(True, warn_only=True)   # says which, and goes on"
        ),
        check="Two runs, torch.equal of their weights.",
    ),
    Kind(
        slug="generator-state",
        chapter="randomness",
        says=(
            "expected a torch.bytetensor",
            "rng state must be a",
            "expected a bytetensor",
            "rng state is wrong size",
            "rng state has{...}size",
            "invalid mt19937 state",
            "expected tensor for argument #1 'self' to have scalar type byte",
            "rng_state must be",
            "the rng state must be",
            "expected rng state{...}",
            "state must be a torch.bytetensor",
        ),
        needs=(
            "rng",
            "state",
            "generator",
            "bytetensor",
            "torch",
        ),
        unless=("sklearn",),
        what=(
            "A generator's state is a uint8 tensor on the CPU. Loaded with map_location='cuda', it is on the "
            "card; as part of a float state it was cast."
        ),
        causes=(
            "`torch.load(path, map_location='cuda')` moved the states too.",
            "The state of another generator: CPU and CUDA states have different sizes.",
            "`.to(dtype)` over a whole checkpoint.",
        ),
        mend=(
            "torch.set_rng_state(saved['torch'].cpu())\n"
            "torch.cuda.set_rng_state_all([s.cpu() for s in saved['cuda']])"
        ),
        check="state.dtype is torch.uint8 and state.device is cpu; two draws after restoring are equal.",
    ),
    Kind(
        slug="generator-seed",
        chapter="randomness",
        says=(
            "seed must be between 0 and 2**32 - 1",
            "manual_seed expected a",
            "manual_seed(): argument 'seed'",
            "overflow when unpacking long{...}seed",
            "expected torch.generator",
            "could not use generator",
            "torch.seed",
        ),
        needs=(
            "torch",
            "manual_seed",
            "worker_init",
            "generator",
            "2**32",
        ),
        unless=(
            "sklearn",
            "tensorflow",
        ),
        what=(
            "PyTorch's seeds have 64 bits, NumPy's legacy seed 32: `torch.initial_seed()` in a worker is too "
            "large for it."
        ),
        causes=("`np.random.seed(torch.initial_seed())` in worker_init_fn.",),
        mend=("def worker_init_fn(worker):\n    np.random.seed(torch.initial_seed() % 2**32)"),
        check="The workers' first numbers differ, and repeat from run to run.",
    ),
)
