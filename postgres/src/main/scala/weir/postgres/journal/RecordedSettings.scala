package weir.postgres.journal

import weir.postgres.protocol.SessionState

/** The settings of a session as one text in the journal: a line each, `name=value`.
  *
  * Values that may be secret are encrypted with a key that only a reader of the script can make.
  */
private[postgres] object RecordedSettings:
  def encode(state: SessionState, cipher: SettingCipher): String =
    state.settings
      .map((name, value) =>
        if maybeSecret(name) then s"$Sealed${escape(name)}=${cipher.seal(value)}"
        else s"${escape(name)}=${escape(value)}"
      )
      .mkString("\n")

  /** Returns the names and values in a text that `encode` has made. A value is `None` if it is
    * encrypted and there is no key, or another one.
    */
  def parse(text: String, cipher: Option[SettingCipher]): Vector[(String, Option[String])] =
    text.linesIterator
      .filter(_.nonEmpty)
      .map { line =>
        val isSealed = line.startsWith(Sealed)
        val (name, value) = line.stripPrefix(Sealed).span(_ != '=')
        val read =
          if isSealed then cipher.flatMap(_.open(value.drop(1))) else Some(unescape(value.drop(1)))
        (unescape(name), read)
      }
      .toVector

  /** A setting with a dot in its name is the script's own, and may hold anything. */
  private def maybeSecret(name: String): Boolean = name.contains('.')

  /** The beginning of a line whose value is encrypted. Earlier versions read it as a setting
    * without a name, which the server refuses.
    */
  private val Sealed = "=%"

  private def escape(text: String): String =
    text.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D").replace("=", "%3D")

  private def unescape(text: String): String =
    text.replace("%3D", "=").replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
