package weir.group;

import java.lang.invoke.VarHandle;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;

/**
 * Appends to a list that no other code has seen yet, as the standard library's own {@code List.map}
 * does.
 *
 * <p>This is Java code because in Scala only Scala's own packages may write the tail of a cell; in
 * the class file the setter is public. A {@code ListBuffer} also writes three fields of its own for
 * each element, which made {@code sequence} a fifth slower: {@code SequenceReady}.
 */
final class ListTail {
  private ListTail() {}

  static <A> void link($colon$colon<A> last, List<A> next) {
    last.next_$eq(next);
  }

  /** Must be called before other threads see the list: its cells' tails are not final fields. */
  static void publish() {
    VarHandle.releaseFence();
  }
}
