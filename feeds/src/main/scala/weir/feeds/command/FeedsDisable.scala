package weir.feeds.command

import picocli.CommandLine.Command

import weir.feeds.manage.EditJob

/** `weir feeds disable`: its options, and nothing else. */
@Command(
  name = "disable",
  sortOptions = false,
  description = Array(
    "Stop fetching feeds until they are enabled. Their items stay.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when the database fails; 2 for bad input (then nothing was changed).",
    ""
  )
)
final class FeedsDisable extends FeedsEdit(EditJob.Edit.Disable)
