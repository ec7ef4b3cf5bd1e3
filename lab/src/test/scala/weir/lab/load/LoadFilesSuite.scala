package weir.lab.load

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermission.OTHERS_READ

import munit.FunSuite

class LoadFilesSuite extends FunSuite:
  private val seed = System.nanoTime()

  test("the script is one COPY of the data, whose rows are counted from 1"):
    val files = LoadFiles.of(1000, seed)
    try
      val lines = Files.readString(files.script).linesIterator.toVector
      assertEquals(lines.head, "COPY weir_load (id, value) FROM stdin;")
      assertEquals(lines.last, "\\.")
      val rows = lines.slice(1, lines.size - 1)
      assertEquals(Files.readString(files.data), rows.mkString("", "\n", "\n"))
      for (row, i) <- rows.zipWithIndex do
        val Array(id, value) = row.split('\t').map(_.toLong): @unchecked
        assertEquals(id, i + 1L)
        assert(value >= 0 && value < (1L << 33), row)
      assert(Files.getPosixFilePermissions(files.data).contains(OTHERS_READ))
    finally delete(files)

  test("the same seed makes the same rows, another one others; what is there is used again"):
    val files = LoadFiles.of(100, seed)
    val others = LoadFiles.of(100, seed + 1)
    try
      val text = Files.readString(files.data)
      assertNotEquals(Files.readString(others.data), text)
      val made = Files.getLastModifiedTime(files.data)
      val _ = LoadFiles.of(100, seed)
      assertEquals(Files.getLastModifiedTime(files.data), made)
      delete(files)
      assertEquals(Files.readString(LoadFiles.of(100, seed).data), text)
    finally
      delete(files)
      delete(others)

  private def delete(files: LoadFiles): Unit =
    for file <- List(files.script, files.data) do Files.deleteIfExists(file): Unit
