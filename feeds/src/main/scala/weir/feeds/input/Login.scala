package weir.feeds.input

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

/** The user name and the password that a user gave with an address. They are kept apart from it,
  * and shown nowhere.
  */
final case class Login(user: String, password: String):
  /** Returns the value of `Authorization`, by RFC 7617. */
  def basic: String =
    "Basic " + Base64.getEncoder.encodeToString(s"$user:$password".getBytes(UTF_8))

  override def toString: String = "Login(***)"

object Login:
  private val before = "(?s)([^/?#]*://)([^/?#\\\\]*)@(.*)".r

  /** Returns the login in the address `text`, if there is one, and the address without it. */
  def split(text: String): (Option[Login], String) =
    text match
      case before(scheme, login, rest) =>
        val (user, password) = login.span(_ != ':')
        val found = Login(PercentCode.decode(user), PercentCode.decode(password.drop(1)))
        (Option.when(login.nonEmpty)(found), scheme + rest)
      case other => (None, other)
