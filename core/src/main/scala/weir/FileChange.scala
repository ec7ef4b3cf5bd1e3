package weir

import java.nio.file.Path

/** What has happened in a directory that `Stream.watch` watches. */
enum FileChange:
  case Created(path: Path)
  case Modified(path: Path)
  case Deleted(path: Path)

  /** There were changes that the system has lost: look at the directory itself. */
  case Missed
