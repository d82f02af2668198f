// oxlint-disable-next-line import/no-default-export -- as the library has it
export { default } from 'uplot'
