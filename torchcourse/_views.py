"""The views: one row each. `torchcourse` and `torchcourse.widgets` offer, and the tests ask for, what stands here."""

# The view's name, which is its module in `widgets/` and the function that opens it -> the class of its card.
VIEWS = {
    "explore": "StorageExplorer",
    "playground": "DecayPlayground",
    "queue": "QueueView",
    "step_backward": "BackwardStepper",
    "timeline": "AllocatorTimeline",
    "tree": "ModuleTree",
    "ways": "ExportView",
}
