package weir.postgres.psql

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

/** Reads CSV as the server writes it. */
private object Csv:

  /** The records of `bytes` whose last line is there, and how many bytes those are. */
  def complete(bytes: Array[Byte]): (Vector[Vector[String]], Int) =
    val records = Vector.newBuilder[Vector[String]]
    var fields = Vector.newBuilder[String]
    val field = StringBuilder()
    var quoted = false
    var end = 0
    // A quote within quotes is doubled: it then ends the quotes and begins them again.
    for at <- bytes.indices do
      val c = bytes(at).toChar
      if c == '"' then
        if !quoted && at > 0 && bytes(at - 1) == '"' then field.append(c)
        quoted = !quoted
      else if !quoted && (c == ',' || c == '\n') then
        fields += String(field.result().getBytes(ISO_8859_1), UTF_8)
        field.clear()
        if c == '\n' then
          records += fields.result()
          fields = Vector.newBuilder
          end = at + 1
      else field.append((c & 0xff).toChar)
    (records.result(), end)
