/** The rules of the house (ARCHITECTURE.md), checked by dependency-cruiser. */
const PROJECTOR = '^projections/(?!.*\\.(entity|migration|module|spec)\\.ts$)';
const DOMAIN = '^src/[^/]+/domain/(?!.*\\.spec\\.ts$)';

/** Node's own modules that reach the disk, the network, other processes, chance or the clock. */
const IMPURE_BUILT_IN =
  '^(node:)?(fs|fs/promises|crypto|net|http|https|http2|tls|dns|dgram|child_process|worker_threads|cluster|os|timers|timers/promises|perf_hooks)$';
const FRAMEWORK =
  'node_modules/(@nestjs|typeorm|pg|pg-copy-streams|fastify|pino|rxjs|@eventstore|libsql|class-validator|class-transformer)/';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one module, or three.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-orphans',
      comment: 'Code that nothing uses.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.spec\\.ts$', '\\.d\\.ts$', '^src/main\\.ts$', '\\.migration\\.ts$', '^test/', '^ops/'],
      },
      to: {},
    },
    {
      name: 'unresolvable',
      severity: 'error',
      comment: 'An import that leads nowhere.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-dependency-at-run-time',
      severity: 'error',
      comment: 'An installation without development packages must run.',
      from: { path: '^(src|projections)/', pathNot: '\\.spec\\.ts$|(^|/)testing/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-is-pure',
      comment: 'A domain decides and evolves: no framework, no I/O, no chance, no clock.',
      severity: 'error',
      from: { path: DOMAIN },
      to: { path: [FRAMEWORK, IMPURE_BUILT_IN] },
    },
    {
      name: 'domain-knows-domain-only',
      comment: 'A domain knows neither HTTP, nor storage, nor its own handlers.',
      severity: 'error',
      from: { path: DOMAIN },
      to: {
        path: '^src/([^/]+/(http|commands|queries)|database|event-store|projection-engine|reactors|live|auth|config)/',
        // What an event type is, is part of the domain's language.
        pathNot: '^src/event-store/event-type\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'projector-is-pure',
      comment: 'A projector folds: events in, row changes out.',
      severity: 'error',
      from: { path: PROJECTOR },
      to: { path: [FRAMEWORK, IMPURE_BUILT_IN] },
    },
    {
      name: 'projector-knows-no-machinery',
      comment: 'The engine does the I/O; the projections do not know it.',
      severity: 'error',
      from: { path: PROJECTOR },
      to: {
        path: '^src/([^/]+/(http|commands|queries)|database|reactors|live|auth|config)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'http-knows-no-sql',
      comment: 'Controllers and DTOs ask the command and query buses.',
      severity: 'error',
      from: { path: '^src/[^/]+/http/', pathNot: '\\.spec\\.ts$' },
      to: { path: ['^src/database/', 'node_modules/(typeorm|pg|pg-copy-streams)/'] },
    },
    {
      name: 'one-door-to-the-log',
      comment: 'The adapter owns the pitfalls of the client.',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: '^src/event-store/|\\.spec\\.ts$' },
      to: { path: 'node_modules/@eventstore/' },
    },
    {
      name: 'embedded-node-stands-alone',
      comment: 'The node is a program of its own, which happens to live here.',
      severity: 'error',
      from: { path: '^src/event-store/embedded/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(src|projections)/', pathNot: '^src/event-store/embedded/' },
    },
    {
      name: 'embedded-rules-are-pure',
      comment:
        'What the node decides, it decides by values: no protocol, no storage, nothing of the machine.',
      severity: 'error',
      from: { path: '^src/event-store/embedded/rules/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: ['^src/event-store/embedded/rules/', 'node_modules/lru-cache/'] },
    },
    {
      name: 'application-knows-no-tests',
      severity: 'error',
      comment: 'What runs in production imports nothing from the tests.',
      from: { path: '^(src|projections)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test/' },
    },
    {
      name: 'black-box-is-black',
      comment:
        'Suites over HTTP know the server by its address only (types excepted): it also keeps them fast.',
      severity: 'error',
      from: {
        path: '^test/',
        pathNot:
          '^test/(conformance|unit|simulation|properties|replay|support/specifications)/|^test/support/replay\\.ts$|-host\\.ts$',
      },
      to: { path: '^(src|projections)/', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    exclude: { path: '^(dist|coverage|\\.bootstrap|\\.rollcall)/|^[^/]+\\.c?js$' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    builtInModules: { add: ['node:test'] },
  },
};
