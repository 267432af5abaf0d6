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
            "expected a cpugeneratorimplstate of size {size:d} but found the input rng state size to be {found:d}",
            "but found the input rng state size to be",
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
        here=("Here: a CPU state has {size} bytes, and {found} came.",),
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
    Kind(
        slug="seed-too-large",
        chapter="randomness",
        says=(
            "valueerror: overflow when unpacking long long",
            "runtimeerror: overflow when unpacking long",
            "overflow when unpacking long",
        ),
        needs=(
            "manual_seed",
            "seed",
        ),
        anybodys=True,
        what="A seed is a number of 64 bits: `manual_seed` takes -2**63 to 2**64 - 1, and this one is larger.",
        causes=(
            "The seed is a hash, a time in nanoseconds times something, or a joined string of numbers.",
            "Seed and worker number were multiplied instead of added.",
        ),
        mend="torch.manual_seed(seed % 2**63)",
        check="-(2**63) <= seed < 2**64.",
    ),
    Kind(
        slug="sampling-too-many",
        chapter="randomness",
        says=(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
            "cannot sample n_sample <= 0 samples",
            "number of categories cannot exceed 2^24",
            "not enough non-negative category to sample",
        ),
        what=(
            "`multinomial` draws positions of the last dimension with the given weights. Without replacement each "
            "position comes once at most, so there can't be more draws than positions (with a weight above 0)."
        ),
        causes=(
            "`replacement=True` is missing (also in WeightedRandomSampler).",
            "The weights are in another dimension than the last.",
        ),
        mend="index = torch.multinomial(weights, 5, replacement=True)",
        check="num_samples <= (weights > 0).sum(-1).min(), or replacement=True.",
    ),
    Kind(
        slug="random-range",
        chapter="randomness",
        says=(
            "random_ expects 'from' to be less than 'to', but got from={low:d} >= to={high:d}",
            "random_ expects 'from' to be less than 'to'",
            "random_ expects",
            "uniform_ expects to return a [from, to) range",
            "normal expects std >= 0.0, but found std {std:n}",
            "normal expects std >= 0.0",
            "normal expects all elements of std >= 0.0",
            "bernoulli_ expects p to be in [0, 1]",
            "exponential_ expects lambda",
            "n must be non-negative, got {low:d}",
        ),
        here=(
            "Here: from {low} up to {high}, which is empty.",
            "Here: the deviation is {std}.",
        ),
        needs=("expects", "torch"),
        what=(
            "A distribution has a range for its parameters: `randint(low, high)` draws from low to high - 1 and needs "
            "low < high, a deviation is 0 or more, a probability between 0 and 1."
        ),
        causes=(
            "The range is computed, and empty: an image smaller than the crop, a dataset without samples.",
            "A deviation comes from a network without softplus or exp.",
        ),
        mend="start = torch.randint(0, max(1, length - crop + 1), (1,))\nstd = F.softplus(raw) + 1e-6",
        check="low < high; std >= 0; 0 <= p <= 1.",
    ),
)
