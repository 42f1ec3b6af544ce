import { jest } from '@jest/globals';

/** For suites that start and kill processes, on a machine that may be busy. What is awaited has limits of its own. */
jest.setTimeout(120_000);
