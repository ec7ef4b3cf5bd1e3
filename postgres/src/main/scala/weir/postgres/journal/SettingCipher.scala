package weir.postgres.journal

import java.security.{GeneralSecurityException, SecureRandom}
import java.util.Base64
import javax.crypto.Cipher
import javax.crypto.spec.{GCMParameterSpec, SecretKeySpec}

/** Encrypts values in the journal for readers who have the script: AES in Galois/Counter Mode, NIST
  * SP 800-38D.
  *
  * @param key
  *   32 bytes, as of `Checksum.keyAt`
  */
private[postgres] final class SettingCipher(key: Array[Byte]):
  import SettingCipher.*

  def seal(value: String): String =
    val nonce = new Array[Byte](NonceBytes)
    random.nextBytes(nonce)
    val sealedBytes = cipher(Cipher.ENCRYPT_MODE, nonce).doFinal(value.getBytes("UTF-8"))
    Base64.getEncoder.encodeToString(nonce ++ sealedBytes)

  /** None if it was sealed with another key, or is damaged. */
  def open(text: String): Option[String] =
    try
      val (nonce, rest) = Base64.getDecoder.decode(text).splitAt(NonceBytes)
      Some(String(cipher(Cipher.DECRYPT_MODE, nonce).doFinal(rest), "UTF-8"))
    catch case _: GeneralSecurityException | _: IllegalArgumentException => None

  private def cipher(mode: Int, nonce: Array[Byte]): Cipher =
    val made = Cipher.getInstance("AES/GCM/NoPadding")
    made.init(mode, SecretKeySpec(key, "AES"), GCMParameterSpec(TagBits, nonce))
    made

private object SettingCipher:
  private val NonceBytes = 12
  private val TagBits = 128
  private val random = SecureRandom()
