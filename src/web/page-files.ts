import { existsSync } from 'node:fs'
import { join } from 'node:path'
import serveFiles from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { pageScript, pageStyle } from './joined-page.ts'

const PAGE = join(import.meta.dirname, 'page')

const SERVED = /^\/?(?:index\.html|index\.css|page\.js|icon\.svg)?$/

/** Browsers revalidate each file: files of two versions do not work together. */
const CACHE = { 'cache-control': 'no-cache' }

/** Serves the page: four files, which are in its folder in the built program, and joined for each request in a clone. */
export async function pageFiles(app: FastifyInstance): Promise<void> {
  await app.register(serveFiles, {
    root: PAGE,
    cacheControl: false,
    setHeaders: (reply) => void reply.setHeader('cache-control', CACHE['cache-control']),
    allowedPath: (path) => SERVED.test(path),
  })
  if (!existsSync(join(PAGE, 'components'))) return
  app.get('/page.js', (_request, reply) =>
    reply.headers({ ...CACHE, 'content-type': 'text/javascript; charset=utf-8' }).send(pageScript()),
  )
  app.get('/index.css', (_request, reply) =>
    reply.headers({ ...CACHE, 'content-type': 'text/css; charset=utf-8' }).send(pageStyle()),
  )
}
