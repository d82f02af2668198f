/**
 * Answers the parent's questions, each with one message; ends when the parent goes. What it was forked with is its
 * first argument, as JSON.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function answer<Question>(work: (question: Question) => unknown): void {
  process.on('message', (question) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the row that forked this process asks
    const answered = Promise.resolve(question as Question).then(work)
    answered.then(
      (message) => process.send?.({ answer: message ?? {} }),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  process.once('disconnect', () => process.exit(0))
  process.send?.({ answer: 'ready' })
}

/** What this process was forked with. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function forkedWith<Options>(): Options {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the row that forked this process gave it
  return JSON.parse(process.argv[2] ?? '{}') as Options
}
