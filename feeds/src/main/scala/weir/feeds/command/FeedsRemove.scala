package weir.feeds.command

import picocli.CommandLine.Command

import weir.feeds.manage.EditJob

/** `weir feeds remove`: its options, and nothing else. */
@Command(
  name = "remove",
  sortOptions = false,
  description = Array(
    "Remove feeds, with all their items.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when the database fails; 2 for bad input (then nothing was changed).",
    ""
  )
)
final class FeedsRemove extends FeedsEdit(EditJob.Edit.Remove)
