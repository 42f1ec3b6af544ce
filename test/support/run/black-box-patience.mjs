import { jest } from '@jest/globals';

/** Requests take milliseconds; this is for a busy machine. */
jest.setTimeout(20_000);
