import { addressOf } from '../model/address.ts'
import { LinkButton, Section } from './layout.tsx'

/** Instead of a view, where the address names none. */
export const UnknownView = () => (
  <Section id="unknown-view" title={`There is no view ${location.hash}.`}>
    <LinkButton href={addressOf('overview')}>Overview</LinkButton>
  </Section>
)
