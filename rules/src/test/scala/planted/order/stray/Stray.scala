package planted.order.stray

/** Breaks the rule: its package has no place in the order. */
final class Stray
