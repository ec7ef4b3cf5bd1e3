package weir.io

import java.nio.file.Path

/** A change in a directory that `Stream.watch` watches. */
enum FileChange:
  case Created(path: Path)
  case Modified(path: Path)
  case Deleted(path: Path)

  /** The system has lost some changes: read the directory itself. */
  case Missed
