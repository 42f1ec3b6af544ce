import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Breaks each rule of .dependency-cruiser.cjs once, in a project of its own, and sees it found. */
const PLANTED: Readonly<Record<string, string>> = {
  'src/sessions/domain/decide.ts': `import { Injectable } from '@nestjs/common'; export const a = Injectable;`,
  'src/sessions/domain/evolve.ts': `import { randomUUID } from 'node:crypto'; export const b = randomUUID;`,
  'src/sessions/domain/refuse.ts': `import { c } from '../http/controller.js'; export const d = c;`,
  'src/sessions/http/controller.ts': `import { Client } from 'pg'; export const c = Client;`,
  'src/live/stream.ts': `import { START } from '@eventstore/db-client'; export const e = START;`,
  'src/event-store/embedded/node.ts': `import { f } from '../../config/config.js'; export const g = f;`,
  'src/config/config.ts': `import { h } from './variables.js'; export const f = h;`,
  'src/config/variables.ts': `import { f } from './config.js'; export const h = f;`,
  'src/database/lonely.ts': `export const i = 1;`,
  'src/agents/tests-inside.ts': `import { j } from '../../test/support/j.js'; import 'jest'; import './gone.js'; export const k = j;`,
  'projections/sessions/projector.ts': `import { Entity } from 'typeorm'; import { l } from '../../src/database/rows.js'; export const m = [Entity, l];`,
  'projections/sessions/sessions.entity.ts': `import { Entity } from 'typeorm'; export const n = Entity;`,
  'src/database/rows.ts': `import { readFileSync } from 'node:fs'; export const l = readFileSync;`,
  'test/support/j.ts': `export const j = 1;`,
  'test/contract/x.spec.ts': `import { f } from '../../src/config/config.js'; import type { c } from '../../src/sessions/http/controller.js'; export type O = typeof c; export const p = f;`,
};

let project: string;
let found: string[];

interface Report {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'rollcall-rules-'));
  for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json'])
    cpSync(name, join(project, name));
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
  for (const [path, text] of Object.entries(PLANTED)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const cruiser = resolve('node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [
    cruiser,
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    'src',
    'projections',
    'test',
  ];
  const run = spawnSync(process.execPath, args, {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  const { summary } = JSON.parse(run.stdout) as Report;
  found = [...new Set(summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`))];
}, 60_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

it.each([
  'domain-is-pure: src/sessions/domain/decide.ts',
  'domain-is-pure: src/sessions/domain/evolve.ts',
  'domain-knows-domain-only: src/sessions/domain/refuse.ts',
  'http-knows-no-sql: src/sessions/http/controller.ts',
  'one-door-to-the-log: src/live/stream.ts',
  'embedded-node-stands-alone: src/event-store/embedded/node.ts',
  'no-cycles: src/config/config.ts',
  'no-orphans: src/database/lonely.ts',
  'application-knows-no-tests: src/agents/tests-inside.ts',
  'no-dev-dependency-at-run-time: src/agents/tests-inside.ts',
  'unresolvable: src/agents/tests-inside.ts',
  'projector-is-pure: projections/sessions/projector.ts',
  'projector-knows-no-machinery: projections/sessions/projector.ts',
  'black-box-is-black: test/contract/x.spec.ts',
])('finds %s', (violation) => {
  expect(found).toContain(violation);
});

it('lets an entity know TypeORM and a suite know types', () => {
  expect(found.filter((violation) => violation.endsWith('.entity.ts'))).toEqual([]);
  expect(found.filter((violation) => violation.startsWith('black-box-is-black'))).toHaveLength(1);
});
