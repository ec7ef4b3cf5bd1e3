package weir.feeds.command

import picocli.CommandLine.Command

import weir.feeds.manage.EditJob

/** `weir feeds enable`: its options, and nothing else. */
@Command(
  name = "enable",
  sortOptions = false,
  description = Array(
    "Fetch feeds again that were disabled, or whose servers answered that they are gone (410).",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0; 1 when the database fails; 2 for bad input (then nothing was changed).",
    ""
  )
)
final class FeedsEnable extends FeedsEdit(EditJob.Edit.Enable)
