import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A process of the bench: answers one question at a time. */
export type Child = {
  /** Rejects when the process ends instead of answering. */
  ask: <Answer>(question: object) => Promise<Answer>
  /** Resolves when the process has ended. */
  end: () => Promise<void>
}

/**
 * Starts a program of `processes/`; resolves when it is ready to be asked.
 *
 * @param options what the program reads with `forkedWith`
 * @param execArgv for Node.js itself
 */
export async function startChild(program: string, options: object, execArgv: string[] = []): Promise<Child> {
  const file = join(import.meta.dirname, 'processes', `${program}.ts`)
  const child = fork(file, [JSON.stringify(options)], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const died = exited.then(() => Promise.reject(new Error(`the bench's process ${program} ended early`)))
  died.catch(() => undefined)
  const answered = async <Answer>(): Promise<Answer> => {
    const [message] = await Promise.race([once(child, 'message'), died])
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own programs say
    return (message as { answer: Answer }).answer
  }
  await answered()
  return {
    ask: (question) => {
      child.send(question)
      return answered()
    },
    end: async () => {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
