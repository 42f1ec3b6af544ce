import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { postJson, send, startEdge } from '../edge.fixture.js';
import type { EdgeApp } from '../edge.fixture.js';
import { SessionId } from '../path-params.js';
import { IsLabels, IsSafeText, MaxCodePoints, OptionalBody, PageQuery, StrictBody } from '../validation.js';

class ItemDto {
  @IsString()
  type: string;

  @IsOptional()
  @IsObject()
  data?: Record<string, unknown>;
}

@StrictBody()
class GitDto {
  @IsString()
  branch_name: string;
}

class CreateDto {
  @IsString()
  agent_id: string;

  @IsOptional()
  @IsString()
  @IsSafeText()
  @MaxCodePoints(5)
  title?: string | null;

  @IsOptional()
  @IsLabels()
  labels?: Record<string, string>;

  @IsOptional()
  @IsArray()
  @ValidateNested()
  @Type(() => ItemDto)
  initial_items: ItemDto[] = [];

  @IsOptional()
  @ValidateNested()
  @Type(() => GitDto)
  git?: GitDto;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(3)
  @IsString({ each: true })
  args?: string[];

  @IsOptional()
  @IsInt()
  @Type(() => Number)
  count?: number;

  @IsOptional()
  @IsBoolean()
  flag?: boolean;

  @IsOptional()
  @IsIn(['external', 'managed'])
  host_type = 'external';

  @IsOptional()
  @MinLength(2)
  name?: string;
}

@StrictBody()
class PatchDto {
  @IsOptional()
  @IsString()
  title?: string;
}

@OptionalBody()
class CloseDto {
  @IsOptional()
  @IsIn(['done', 'cancelled'])
  reason = 'done';
}

class ResolveDto {
  @IsIn(['accept', 'decline', 'cancel'])
  action: string;
}

class ListQuery extends PageQuery {
  override limit = 100;

  @IsOptional()
  @IsBoolean()
  @Type(() => Boolean)
  include_archived = false;

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  type?: string[];
}

@Controller('toy')
class ToyController {
  @Post()
  create(@Body() body: CreateDto) {
    return body;
  }

  @Post('patch')
  patch(@Body() body: PatchDto) {
    return body;
  }

  @Post('close')
  close(@Body() body: CloseDto) {
    return body;
  }

  @Post(':id/resolve')
  resolve(@SessionId() id: string, @Body() body: ResolveDto) {
    return { id, ...body };
  }

  @Get()
  list(@Query() query: ListQuery) {
    return query;
  }

  @Get('one')
  one(@Query('wait') wait: string | undefined) {
    return { wait: wait ?? null };
  }
}

let app: EdgeApp;
beforeAll(async () => {
  app = await startEdge([ToyController]);
});
afterAll(() => app.close());

async function post(path: string, body: unknown): Promise<[number, unknown]> {
  const answer = await postJson(app, path, typeof body === 'string' ? body : JSON.stringify(body));
  return [answer.status, JSON.parse(answer.text)];
}

async function get(path: string): Promise<[number, unknown]> {
  const answer = await send(app, 'GET', path);
  return [answer.status, JSON.parse(answer.text)];
}

describe('a valid body', () => {
  it('becomes its DTO, with defaults, and without members that are not declared', async () => {
    expect(await post('/toy', { agent_id: 'a', title: null, unknown: 1, git: { branch_name: 'b' } })).toEqual(
      [
        201,
        { agent_id: 'a', title: null, git: { branch_name: 'b' }, initial_items: [], host_type: 'external' },
      ],
    );
  });

  it('keeps free-form data to the letter', async () => {
    const data = '{"constructor":{"name":"x"},"__proto__":{"y":1},"toString":null,"hasOwnProperty":[]}';
    const answer = await postJson(
      app,
      '/toy',
      `{"agent_id":"a","initial_items":[{"type":"t","data":${data}}]}`,
    );
    expect(answer.status).toBe(201);
    expect(answer.text).toContain(data);
  });

  it('may have labels with the names of what every object has', async () => {
    const labels = { constructor: 'a', toString: 'b', '': undefined };
    expect(await post('/toy', { agent_id: 'a', labels })).toMatchObject([
      201,
      { labels: { constructor: 'a', toString: 'b' } },
    ]);
  });

  it('counts code points', async () => {
    expect((await post('/toy', { agent_id: 'a', title: '😀😀😀😀😀' }))[0]).toBe(201);
  });
});

describe('an invalid body is 422 with one entry for each fault', () => {
  const manyLabels = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`k${i}`, 'v']));

  it.each<[string, unknown, string, (string | number)[], unknown]>([
    ['no body', '', 'missing', [], null],
    ['null', 'null', 'missing', [], null],
    ['a list', [], 'model_attributes_type', [], []],
    ['a text', '"x"', 'model_attributes_type', [], 'x'],
    ['a missing member', { x: 1 }, 'missing', ['agent_id'], { x: 1 }],
    ['null for a text', { agent_id: null }, 'string_type', ['agent_id'], null],
    ['a number for a text', { agent_id: 5 }, 'string_type', ['agent_id'], 5],
    ['a long text', { agent_id: 'a', title: '123456' }, 'string_too_long', ['title'], '123456'],
    ['NUL', { agent_id: 'a', title: 'a\0' }, 'string_unicode', ['title'], 'a\ufffd'],
    ['a lone surrogate', '{"agent_id":"a","title":"\\ud800"}', 'string_unicode', ['title'], '\ufffd'],
    ['a number for a title', { agent_id: 'a', title: 123456 }, 'string_type', ['title'], 123456],
    ['a short text', { agent_id: 'a', name: 'x' }, 'string_too_short', ['name'], 'x'],
    ['a text for a number', { agent_id: 'a', count: '5' }, 'int_type', ['count'], '5'],
    ['a fraction', { agent_id: 'a', count: 1.5 }, 'int_from_float', ['count'], 1.5],
    ['a text for a truth', { agent_id: 'a', flag: 'true' }, 'bool_type', ['flag'], 'true'],
    ['an unknown word', { agent_id: 'a', host_type: 'x' }, 'literal_error', ['host_type'], 'x'],
    ['an object for a list', { agent_id: 'a', args: {} }, 'list_type', ['args'], {}],
    ['a wrong member of a list', { agent_id: 'a', args: ['a', 1] }, 'string_type', ['args', 1], 1],
    ['too many', { agent_id: 'a', args: ['', '', '', ''] }, 'too_long', ['args'], ['', '', '', '']],
    ['labels as a list', { agent_id: 'a', labels: [] }, 'dict_type', ['labels'], []],
    ['a label that is no text', { agent_id: 'a', labels: { k: 1 } }, 'string_type', ['labels', 'k'], 1],
    [
      'a long label key',
      { agent_id: 'a', labels: { ['k'.repeat(129)]: 'v' } },
      'string_too_long',
      ['labels', 'k'.repeat(129)],
      'v',
    ],
    [
      'an unsafe label key',
      { agent_id: 'a', labels: { 'k\0': 'v' } },
      'string_unicode',
      ['labels', 'k\ufffd'],
      'v',
    ],
    [
      'a label named __proto__',
      '{"agent_id":"a","labels":{"__proto__":"v"}}',
      'value_error',
      ['labels', '__proto__'],
      'v',
    ],
    ['too many labels', { agent_id: 'a', labels: manyLabels }, 'too_long', ['labels'], manyLabels],
    [
      'an object for a list of objects',
      { agent_id: 'a', initial_items: { type: 't' } },
      'list_type',
      ['initial_items'],
      { type: 't' },
    ],
    [
      'a text in a list of objects',
      { agent_id: 'a', initial_items: ['x'] },
      'model_attributes_type',
      ['initial_items', 0],
      'x',
    ],
    [
      'null in a list of objects',
      { agent_id: 'a', initial_items: [null] },
      'model_attributes_type',
      ['initial_items', 0],
      null,
    ],
    [
      'a nested fault',
      { agent_id: 'a', initial_items: [{ type: 't' }, { data: {} }] },
      'missing',
      ['initial_items', 1, 'type'],
      { data: {} },
    ],
    [
      'a list for nested data',
      { agent_id: 'a', initial_items: [{ type: 't', data: [] }] },
      'dict_type',
      ['initial_items', 0, 'data'],
      [],
    ],
    ['a list for an object', { agent_id: 'a', git: [] }, 'model_attributes_type', ['git'], []],
    [
      'a member too many in a strict part',
      { agent_id: 'a', git: { branch_name: 'b', x: 1 } },
      'extra_forbidden',
      ['git', 'x'],
      1,
    ],
    [
      'an object that says it is of another class',
      '{"agent_id":"a","git":{"constructor":5}}',
      'extra_forbidden',
      ['git', 'constructor'],
      5,
    ],
  ])('%s', async (_, body, type, loc, input) => {
    const [status, answer] = await post('/toy', body);
    expect(status).toBe(422);
    const detail: unknown = expect.arrayContaining([
      { type, loc: ['body', ...loc], msg: expect.stringMatching(/./) as string, input },
    ]);
    expect(answer).toEqual({ detail });
  });

  it('tells all that is wrong at once', async () => {
    const [, answer] = await post('/toy', { labels: 1, initial_items: [5, { type: 'ok' }], count: 'x' });
    expect(answer).toMatchObject({ detail: { length: 4 } });
  });

  it('does not repeat a large input whole', async () => {
    const answer = await postJson(
      app,
      '/toy',
      JSON.stringify({ title: 'x'.repeat(1_000_000), pad: ['y'.repeat(9_000)] }),
    );
    expect(answer.text.length).toBeLessThan(3_000);
  });

  it('stays bounded, however much is wrong', async () => {
    const [status, answer] = await post('/toy', {
      agent_id: 'a',
      initial_items: Array.from({ length: 50_000 }, () => 5),
    });
    expect(status).toBe(422);
    expect(answer).toMatchObject({ detail: { length: 100 } });
  });
});

describe('strict and optional bodies', () => {
  it('a strict one refuses members that are not declared', async () => {
    expect(await post('/toy/patch', { title: 'x', foo: 1, __proto: 2 })).toMatchObject([
      422,
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'foo'], input: 1 }, { loc: ['body', '__proto'] }] },
    ]);
    expect((await post('/toy/patch', '{"__proto__":{"title":5}}'))[0]).toBe(422);
  });

  it('an optional one may be absent', async () => {
    expect(await post('/toy/close', '')).toEqual([201, { reason: 'done' }]);
    const bare = await send(app, 'POST', '/toy/close');
    expect(bare.status).toBe(201);
  });
});

describe('the order of checks', () => {
  it('an invalid body comes before an unknown session', async () => {
    expect((await post('/toy/conv_no_such_session/resolve', { action: 'yolo' }))[0]).toBe(422);
    expect(await post('/toy/conv_no_such_session/resolve', { action: 'accept' })).toEqual([
      404,
      { error: { code: 'not_found', message: 'Not found.' } },
    ]);
  });
});

describe('query strings', () => {
  const defaults = { limit: 100, order: 'desc', include_archived: false };

  it.each<[string, object]>([
    ['', defaults],
    ['?limit=5&order=asc&after=x', { ...defaults, limit: 5, order: 'asc', after: 'x' }],
    ['?limit=1000&unknown=1&unknown=2', { ...defaults, limit: 1000 }],
    ['?include_archived=true', { ...defaults, include_archived: true }],
    ['?include_archived=0', defaults],
    ['?type=a', { ...defaults, type: ['a'] }],
    ['?type=a&type=b', { ...defaults, type: ['a', 'b'] }],
    ['?__proto__=x&constructor=y', defaults],
  ])('%s is read', async (query, expected) => {
    expect(await get(`/toy${query}`)).toEqual([200, expected]);
  });

  it.each([
    ['limit=0', 'limit', 'greater_than_equal'],
    ['limit=-1', 'limit', 'greater_than_equal'],
    ['limit=1001', 'limit', 'less_than_equal'],
    ['limit=1e3', 'limit', 'int_parsing'],
    ['limit=%205', 'limit', 'int_parsing'],
    ['limit=0x5', 'limit', 'int_parsing'],
    ['limit=', 'limit', 'int_parsing'],
    ['limit=5.5', 'limit', 'int_from_float'],
    ['limit=99999999999999999999', 'limit', 'int_parsing'],
    ['limit=5&limit=6', 'limit', 'int_type'],
    ['order=up', 'order', 'literal_error'],
    ['order=asc&order=asc', 'order', 'literal_error'],
    ['after=a&after=b', 'after', 'string_type'],
    ['include_archived=maybe', 'include_archived', 'bool_parsing'],
  ])('%s is 422', async (query, field, type) => {
    expect(await get(`/toy?${query}`)).toMatchObject([422, { detail: [{ type, loc: ['query', field] }] }]);
  });

  it('a parameter taken by name comes once', async () => {
    expect(await get('/toy/one?wait=5')).toEqual([200, { wait: '5' }]);
    expect(await get('/toy/one?wait=5&wait=6')).toMatchObject([
      422,
      { detail: [{ loc: ['query', 'wait'] }] },
    ]);
  });
});
