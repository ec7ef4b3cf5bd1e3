package weir.postgres.input

import java.security.MessageDigest
import weir.WeirSuite

class ChecksumSuite extends WeirSuite:
  private def sha(bytes: Array[Byte]) = MessageDigest.getInstance("SHA-256").digest(bytes).toSeq

  test("the sum up to each place is that of the bytes before it, however they were read"):
    val bytes = Array.tabulate[Byte](1000)(_.toByte)
    for block <- Seq(1, 7, 64, 1000) do
      val sum = Checksum()
      for from <- bytes.indices by block do
        sum.append(bytes, from, math.min(block, bytes.length - from))
      for at <- Seq(0, 1, 1, 63, 64, 500, 999, 1000) do
        assertEquals(sum.at(at).toSeq, sha(bytes.take(at)), s"$block $at")

  test("a sum of what was not read, or before what was asked for, is refused"):
    val sum = Checksum()
    sum.append("abc".getBytes, 1, 2)
    assertEquals(sum.at(2).toSeq, sha("bc".getBytes))
    assert(intercept[IllegalStateException](sum.at(3)).getMessage.contains("2 bytes"))
    assert(intercept[IllegalArgumentException](sum.at(1)).getMessage.contains("in order"))
