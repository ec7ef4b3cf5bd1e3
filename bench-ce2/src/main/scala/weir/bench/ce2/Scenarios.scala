package weir.bench.ce2

import weir.lab.gather.Form

/** What does it cost to run tasks in order that have nothing to wait for? */
class SequenceReady extends FormScenario(Form.SequenceReady)

/** What does it cost to run tasks in order that each go through the scheduler once? */
class SequenceForked extends FormScenario(Form.SequenceForked)

/** What does it cost to run tasks concurrently that have nothing to wait for? */
class GatherReady extends FormScenario(Form.GatherReady)

/** What does it cost to run tasks concurrently that each go through the scheduler once? */
class GatherForked extends FormScenario(Form.GatherForked)

/** What does it cost to run ready tasks concurrently, taking results as they come? */
class GatherUnorderedReady extends FormScenario(Form.UnorderedReady)

/** What does it cost to run forked tasks concurrently, taking results as they come? */
class GatherUnorderedForked extends FormScenario(Form.UnorderedForked)
