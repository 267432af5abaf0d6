"""One slug per kind of fault, with the chapter that teaches it. `faults.SLUGS` is this table, complete."""

SLUGS = {
    # what a module missed (modules.missed)
    "tensor-not-registered": "modules",
    "tensor-in-container": "modules",
    "parameter-in-container": "modules",
    "module-in-container": "modules",
    "parameter-replaced": "modules",
    "parameter-as-buffer": "modules",
    "buffer-not-moved": "modules",
    "super-init-missing": "modules",
    "module-cycle": "modules",
    "optimizer-misses-parameter": "modules",
    "optimizer-foreign-parameter": "modules",
    "gradient-missing": "modules",
    "frozen-but-stepped": "modules",
}
