package weir.program

import java.nio.file.{Files, Path}
import java.util.Comparator

import munit.FunSuite

/** Gives every test an empty folder of its own. */
trait TempFolder:
  self: FunSuite =>

  val folder: FunFixture[Path] = FunFixture[Path](
    setup = _ => Files.createTempDirectory("weir"),
    teardown = path => Files.walk(path).sorted(Comparator.reverseOrder).forEach(Files.delete)
  )

  def write(folder: Path, name: String, text: String): Path =
    Files.writeString(folder.resolve(name), text)
