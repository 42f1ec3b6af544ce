import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import jest from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', '.rollcall/', '.bootstrap/', '**/*.cjs'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { prefer: 'type-imports', fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Nest modules are classes without members, and async methods of an interface need not await.
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-control-regex': 'off',
    },
  },
  {
    // Decisions and folds are functions of their arguments; .dependency-cruiser.cjs watches their imports.
    files: ['src/*/domain/**/*.ts', 'projections/**/*.ts'],
    ignores: ['**/*.{entity,migration,module,spec}.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...[
          'process',
          'crypto',
          'fetch',
          'performance',
          'setTimeout',
          'setInterval',
          'setImmediate',
          'queueMicrotask',
        ],
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The time is an argument here.' },
        { object: 'Math', property: 'random', message: 'Chance is an argument here.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'The time is an argument here.',
        },
        { selector: "CallExpression[callee.name='Date']", message: 'The time is an argument here.' },
      ],
    },
  },
  {
    files: ['**/*.ts', '**/*.mjs', '**/*.js'],
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.mjs', '*.js'],
    languageOptions: {
      globals: { process: 'readonly', Buffer: 'readonly', setTimeout: 'readonly', URL: 'readonly' },
    },
  },
  {
    files: ['**/*.spec.ts', '**/*.spec.mjs', 'test/**/*.ts'],
    ...jest.configs['flat/recommended'],
    rules: {
      ...jest.configs['flat/recommended'].rules,
      'jest/no-disabled-tests': 'error',
      'jest/no-focused-tests': 'error',
      'jest/no-commented-out-tests': 'error',
      // Specifications in given/when/then form and polls assert inside functions of their own.
      'jest/expect-expect': [
        'error',
        { assertFunctionNames: ['expect', 'expect*', '**.then*', 'until', 'fc.assert'] },
      ],
      'jest/no-standalone-expect': 'off',
      'jest/no-conditional-expect': 'error',
    },
  },
  prettier,
);
