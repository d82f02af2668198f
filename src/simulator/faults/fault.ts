import type { Random } from '../random.ts'
import type { Reply } from '../reply.ts'

/** What a fault is made from: the answer that would have been given, when (seconds since 1970, by its Date), and chance. */
export type FaultContext = { reply: Reply; at: number; random: Random }

/** Says what the client gets instead. */
export type Fault = (context: FaultContext) => Reply
