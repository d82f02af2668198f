/** A function that runs each work once the one before it has ended, in the order of the calls. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}
