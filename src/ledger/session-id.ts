/** What a target says of its app. The vendor's addresses name app and region: `https://<app id>.call-<region>.<domain>/v3`. */
export type App = { baseUrl?: string | undefined; appId?: string | undefined }
/** A target with what it says of its app. */
export type NamedApp = App & { name: string }

function partsOf({ baseUrl = '', appId }: App): { appId: string | undefined; region: string | undefined } {
  const [, app = appId, region] = /^https:\/\/([a-z\d-]+)\.call-([a-z\d-]+)\./i.exec(baseUrl) ?? []
  return { appId: app?.toLowerCase(), region }
}

/** The app of a target, by its name: the app id in lower case; the name where that is not known, as of a target that was removed. */
export function appsOf(targets: readonly NamedApp[]): (target: string) => string {
  const apps = new Map(targets.map(({ name, ...app }) => [name, partsOf(app).appId ?? name]))
  return (target) => apps.get(target) ?? target
}

const ANY = '[^.]+'

/**
 * A session id without `v1.<region>.<app id>.`, if it has that of the app, or any where app or region are not known. The service puts it
 * before the id that an app chooses: in webhooks always, in other answers as it likes.
 */
export function withoutPrefix(id: string, app: App): string {
  const { appId = ANY, region = ANY } = partsOf(app)
  return id.replace(new RegExp(String.raw`^v1\.${region}\.${appId}\.(?=.)`, 'i'), '')
}

/** The id of a session, and its other form: without the prefix of the app, or with it, if that is known. */
export function formsOf(id: string, app: App): string[] {
  const { appId, region } = partsOf(app)
  const bare = withoutPrefix(id, app)
  if (bare !== id) return [id, bare]
  return appId === undefined || region === undefined ? [id] : [id, `v1.${region}.${appId}.${id}`]
}

/** How session ids begin, or what they are: as it is given, or, of a target, in the other form. */
export type SessionIds = { given: string; others: ReadonlyMap<string, string> }

/** The forms of a session id that is given for some targets. */
export function sessionIds(given: string, targets: readonly NamedApp[]): SessionIds {
  const others = targets.flatMap((target) => {
    const [, other] = formsOf(given, target)
    return other === undefined ? [] : [[target.name, other] as const]
  })
  return { given, others: new Map(others) }
}

/** The forms of a session id of a target. */
export function idsFor(target: string, { given, others }: SessionIds): string[] {
  const other = others.get(target)
  return other === undefined ? [given] : [given, other]
}
