package weir.postgres.input

import java.io.InputStream

/** Bytes of which a read may wait for long. An interrupt of a thread of the system ends it. */
private[postgres] abstract class WaitingInput extends InputStream:
  def read(): Int =
    val one = new Array[Byte](1)
    if read(one, 0, 1) < 1 then -1 else one(0) & 0xff
