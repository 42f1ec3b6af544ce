import { describe, expect, it } from '@jest/globals';
import { productionNotice } from './production-guard.js';

describe('the node in production', () => {
  it('is refused', () => {
    expect(() => productionNotice({ NODE_ENV: 'production' })).toThrow('not for production');
    expect(() => productionNotice({ NODE_ENV: 'production', ROLLCALL_EMBEDDED_FORCE: 'yes' })).toThrow();
  });

  it('runs with a warning when forced', () => {
    expect(productionNotice({ NODE_ENV: 'production', ROLLCALL_EMBEDDED_FORCE: '1' })).toContain(
      'no replication',
    );
  });

  it('is nobody’s business elsewhere', () => {
    expect(productionNotice({})).toBeUndefined();
    expect(productionNotice({ NODE_ENV: 'test' })).toBeUndefined();
  });
});
