/** The budget of the house: sources have a median below 100 lines, and none has more than 400. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap/project.mjs';

const MEDIAN_BELOW = 100;
const LONGEST = 400;
const FOLDERS = ['src', 'projections', 'test', 'scripts', 'ops'];
const SOURCE = /\.(ts|tsx|mjs|js|css|html)$/;

const files = FOLDERS.flatMap((folder) => list(folder)).map((path) => ({ path, lines: countLines(path) }));
const sorted = files.map(({ lines }) => lines).sort((a, b) => a - b);
const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
const tooLong = files.filter(({ lines }) => lines > LONGEST);

process.stdout.write(
  `${files.length} files, ${sum(sorted)} lines, median ${median}, longest ${sorted.at(-1) ?? 0}\n`,
);
for (const { path, lines } of tooLong)
  process.stdout.write(`${path}: ${lines} lines, more than ${LONGEST}\n`);
if (median >= MEDIAN_BELOW) process.stdout.write(`the median is not below ${MEDIAN_BELOW}\n`);
process.exitCode = tooLong.length > 0 || median >= MEDIAN_BELOW ? 1 : 0;

function list(folder) {
  try {
    return readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, name))
      .filter((path) => SOURCE.test(path) && !path.includes('node_modules'));
  } catch {
    return [];
  }
}

function countLines(path) {
  return readFileSync(join(root, path), 'utf8').split('\n').length - 1;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
