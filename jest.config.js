/** Node's ESM in Jest needs NODE_OPTIONS=--experimental-vm-modules; `npm test` sets it. */
const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.rollcall/', '<rootDir>/.bootstrap/'],
};

/** Suites that start processes get a run directory, and a check at the end that nothing of theirs is left. */
const withRun = {
  ...shared,
  globalSetup: '<rootDir>/test/support/run/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/run/global-teardown.mjs',
};

export default {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{src,projections}/**/*.spec.ts',
        '<rootDir>/scripts/**/*.spec.mjs',
        '<rootDir>/test/{unit,simulation}/**/*.spec.ts',
      ],
      testPathIgnorePatterns: ['/node_modules/', '\\.int\\.spec\\.ts$'],
    },
    {
      ...shared,
      displayName: 'blackbox',
      globalSetup: '<rootDir>/test/support/run/black-box-setup.mjs',
      globalTeardown: '<rootDir>/test/support/run/black-box-teardown.mjs',
      setupFilesAfterEnv: ['<rootDir>/test/support/run/black-box-patience.mjs'],
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(unit|simulation|exclusive|conformance)/'],
    },
    {
      ...withRun,
      displayName: 'conformance',
      setupFilesAfterEnv: ['<rootDir>/test/support/run/patience.mjs'],
      testMatch: ['<rootDir>/test/conformance/*.spec.ts'],
    },
    {
      ...withRun,
      displayName: 'exclusive',
      testMatch: [
        '<rootDir>/test/exclusive/**/*.spec.ts',
        '<rootDir>/test/conformance/embedded-node/**/*.spec.ts',
        '<rootDir>/{src,projections}/**/*.int.spec.ts',
      ],
      setupFilesAfterEnv: ['<rootDir>/test/support/run/patience.mjs'],
    },
  ],
};
