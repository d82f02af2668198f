import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

const PAGE = join(import.meta.dirname, 'page')
const HASHED = /\bpage-[\w-]+\.js$/
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.css': 'text/css',
}

/** Browsers revalidate files whose name has no hash, because these name the other files. */
const cacheOf = (name: string) => (HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache')

/** Serves the page. The built program has it in a folder with compressed files; a clone bundles it. */
export async function pageFiles(app: FastifyInstance): Promise<void> {
  app.get('/runbooks', (_, reply) => reply.redirect('runbooks/'))
  if (existsSync(join(PAGE, 'page.tsx'))) return bundledFiles(app)
  await app.register(serveFiles, {
    root: PAGE,
    cacheControl: false,
    preCompressed: true,
    extensions: ['html'],
    setHeaders: (reply, path) => void reply.header('cache-control', cacheOf(path.replace(/\.(?:br|gz)$/, ''))),
  })
}

/** Bundles the page at the first request, and again whenever a browser loads it. */
function bundledFiles(app: FastifyInstance): void {
  let bundled: Promise<{ files: Map<string, string> }> | undefined
  app.get<{ Params: { name?: string } }>('/:name?', ({ params: { name = 'index.html' } }, reply) => send(name, reply))
  app.get('/runbooks/', (_, reply) => send('runbooks/index.html', reply))
  app.get<{ Params: { name: string } }>('/runbooks/:name', ({ params: { name } }, reply) =>
    send(`runbooks/${name}${extname(name) === '' ? '.html' : ''}`, reply),
  )

  async function send(file: string, reply: FastifyReply) {
    if (bundled === undefined || file === 'index.html') {
      bundled = import('./bundle-page.ts').then(({ bundlePage }) => bundlePage())
    }
    const text = (await bundled).files.get(file)
    if (text === undefined) return reply.callNotFound()
    return reply
      .headers({ 'cache-control': cacheOf(file) })
      .type(`${TYPES[extname(file)]}; charset=utf-8`)
      .send(text)
  }
}
