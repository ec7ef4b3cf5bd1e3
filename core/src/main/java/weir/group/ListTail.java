package weir.group;

import java.lang.invoke.VarHandle;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;

/**
 * Appends to a list that no other code has seen yet, as the standard library's own {@code List.map}
 * does.
 *
 * <p>In Java because by Scala's rules the tail of a cell may only be written from Scala's own
 * packages; in the class file the setter is public. A {@code ListBuffer} writes three fields of its
 * own for each element besides, which made {@code sequence} a fifth slower: {@code SequenceReady}.
 */
final class ListTail {
  private ListTail() {}

  static <A> void link($colon$colon<A> last, List<A> next) {
    last.next_$eq(next);
  }

  /** To be called before others see the list: its cells' tails are not final fields. */
  static void publish() {
    VarHandle.releaseFence();
  }
}
