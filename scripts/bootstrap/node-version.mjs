import { BootstrapError } from './say.mjs';

const SUPPORTED = [
  { major: 20, minor: 19, open: false },
  { major: 22, minor: 12, open: true },
];

/** The rule of package.json `engines`: ^20.19 || >=22.12. */
export function isSupported(version) {
  const [major, minor] = version.split('.').map(Number);
  return SUPPORTED.some(
    (line) => (major === line.major && minor >= line.minor) || (line.open && major > line.major),
  );
}

export function checkNodeVersion(version = process.versions.node) {
  if (isSupported(version)) return;
  throw new BootstrapError(
    `Rollcall needs Node 20.19 or newer (20.x from 20.19, or 22.12 and up), and this is Node ${version}.`,
  );
}
