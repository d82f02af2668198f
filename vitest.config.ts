import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // System tests start several processes each; on two cores more than two files at once only steal time.
    maxWorkers: 2,
    testTimeout: 10_000,
  },
})
