/**
 * What becomes of a process whose output nobody reads any more, as of `callwatch check | head -1`: a command has nothing
 * left to do and ends at once, without a word; the daemon goes on, for counting and telling a team does not depend on
 * its log.
 *
 * @param isDaemon asked when it happens
 */
export function surviveClosedPipe(stream: NodeJS.WriteStream, isDaemon: () => boolean): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (!isDaemon()) process.exit()
  })
}
