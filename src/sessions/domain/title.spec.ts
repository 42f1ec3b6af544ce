import { describe, expect, it } from '@jest/globals';
import { handleOf, parseTitle, withoutTombstone } from './title.js';

describe('a title read as tool and session name (contract/sessions.md 4.3, F001)', () => {
  it.each<[string | null, string | null, string | null]>([
    ['researcher:auth', 'researcher', 'auth'],
    ['deploy: prod', 'deploy', ' prod'],
    ['a:b:c', 'a', 'b:c'],
    ['http://x:8080/y', 'http', '//x:8080/y'],
    [':leading', '', 'leading'],
    ['trailing:', 'trailing', ''],
    ['::', '', ':'],
    [':', '', ''],
    ['no colon', 'no colon', null],
    ['legacy-untyped', 'legacy-untyped', null],
    ['', null, null],
    [null, null, null],
    ['ui', 'ui', null],
    ['ui:', 'ui', ''],
    ['ui:coder', 'ui', 'coder'],
    ['ui:coder:my label', 'coder', 'my label'],
    ['ui:claude-native-ui:1', 'claude-native-ui', '1'],
    ['ui:codex:my-task-2', 'codex', 'my-task-2'],
    ['ui:claude-native-ui:a:b:c', 'claude-native-ui', 'a:b:c'],
    ['ui::x', '', 'x'],
    ['UI:coder:x', 'UI', 'coder:x'],
    ['Ünïcode:😀', 'Ünïcode', '😀'],
  ])('%j is tool %j and name %j', (title, tool, sessionName) => {
    expect(parseTitle(title)).toEqual({ tool, sessionName });
  });
});

describe('a stated tool or name beats the title (design 13.5)', () => {
  it.each<[string | null, string | null, string | null, string | null, string | null]>([
    // title, stated tool, stated name -> tool, name
    ['deploy: prod', 'writer', null, 'writer', 'deploy: prod'],
    ['writer:prod', 'writer', null, 'writer', 'prod'],
    ['ui:writer:a:b', 'writer', null, 'writer', 'a:b'],
    ['writer', 'writer', null, 'writer', null],
    ['', 'writer', null, 'writer', null],
    [null, 'writer', null, 'writer', null],
    ['http://x', 'writer', 'fetch', 'writer', 'fetch'],
    ['a:b', null, 'stated', 'a', 'stated'],
    [null, null, 'stated', null, 'stated'],
    ['a:b', '', null, '', 'a:b'],
    ['writers:prod', 'writer', null, 'writer', 'writers:prod'],
  ])('%j with tool %j and name %j reads %j, %j', (title, tool, sessionName, readTool, readName) => {
    expect(handleOf({ title, tool, sessionName })).toEqual({ tool: readTool, sessionName: readName });
  });
});

describe('a legacy tombstone closes only the session that it names (design 13.4)', () => {
  const isOwn = (text: string): boolean => text === 'conv_1';

  it.each<[string, string | null]>([
    ['researcher:auth:closed:conv_1', 'researcher:auth'],
    [':closed:conv_1', ''],
    ['a:closed:b:closed:conv_1', 'a:closed:b'],
    ['researcher:auth:closed:conv_2', null],
    ['researcher:auth:closed:', null],
    ['closed:conv_1', null],
    ['researcher:auth', null],
  ])('%j shows as %j', (title, shown) => {
    expect(withoutTombstone(title, isOwn)).toBe(shown);
  });
});
