import { randomUUID } from 'node:crypto';
import type { Stage } from './stage.js';

export interface Casting {
  /** The agent's id; null for a child without one. */
  readonly agent: string | null;
  /** The name of the agent, put on what it says. */
  readonly speaksAs: string;
  readonly title?: string;
  readonly labels?: Record<string, string>;
}

export interface Question {
  readonly message: string;
  readonly requestedSchema?: object;
  readonly [extra: string]: unknown;
}

/** One session of a scenario: what its runner, its people and its agent do to it over HTTP. */
export class Actor {
  private turn = newTurn();

  private constructor(
    private readonly stage: Stage,
    readonly id: string,
    private readonly speaksAs: string,
  ) {}

  static async enter(stage: Stage, casting: Casting, parent: Actor | null = null): Promise<Actor> {
    const { agent, speaksAs, title, labels } = casting;
    const body = { agent_id: agent, parent_session_id: parent?.id ?? null, title: title ?? null, labels };
    const { id } = await stage.post<{ id: string }>('/v1/sessions', body);
    return new Actor(stage, id, speaksAs);
  }

  spawn(casting: Casting): Promise<Actor> {
    return Actor.enter(this.stage, casting, this);
  }

  /** Spawns a child, tells it what to do, and lets it start. */
  async delegate(casting: Casting, task: string): Promise<Actor> {
    const child = await this.spawn(casting);
    await child.hears(task);
    await child.runs();
    return child;
  }

  hears(text: string): Promise<void> {
    return this.item('message', { role: 'user', content: [{ type: 'input_text', text }] });
  }

  /** What a harness slips into the transcript and nobody is meant to read. */
  hearsMeta(text: string): Promise<void> {
    return this.item('message', { role: 'user', content: [{ type: 'input_text', text }], is_meta: true });
  }

  says(text: string): Promise<void> {
    return this.event('external_assistant_message', {
      agent: this.speaksAs,
      text,
      response_id: this.turn,
    });
  }

  thinks(summary: string): Promise<void> {
    const block = { type: 'summary_text', text: summary };
    return this.item('reasoning', { agent: this.speaksAs, summary: [block] });
  }

  /** A tool call and, after `seconds`, its output. */
  async uses(tool: string, input: object, output: string, seconds = 2): Promise<void> {
    const call = `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
    const argumentsText = JSON.stringify(input);
    await this.item('function_call', {
      agent: this.speaksAs,
      name: tool,
      arguments: argumentsText,
      call_id: call,
    });
    await this.stage.pause(seconds);
    await this.item('function_call_output', { call_id: call, output });
  }

  async runs(): Promise<void> {
    this.turn = newTurn();
    await this.status('running');
  }

  waits(more: object = {}): Promise<void> {
    return this.status('waiting', more);
  }

  idles(output?: string): Promise<void> {
    return this.status('idle', output === undefined ? {} : { output });
  }

  async fails(code: string, reason: string): Promise<void> {
    await this.item('error', { source: 'execution', code, message: reason });
    await this.status('failed', { output: reason });
  }

  /** A prompt for a human; its id is what the verdict names. */
  async asks(question: Question): Promise<string> {
    const data = { ...question, response_id: this.turn };
    const answer = await this.stage.post<{ elicitation_id: string }>(this.path('events'), {
      type: 'mcp_elicitation',
      data,
    });
    return answer.elicitation_id;
  }

  /** A verdict by way of the web. */
  async answer(
    elicitation: string,
    action: 'accept' | 'decline' | 'cancel',
    content?: object,
  ): Promise<void> {
    await this.stage.post(this.path(`elicitations/${elicitation}/resolve`), { action, content });
  }

  /** A verdict by way of a client that posts events. */
  approve(elicitation: string, action: 'accept' | 'decline' | 'cancel', content?: object): Promise<void> {
    return this.event('approval', { elicitation_id: elicitation, action, content });
  }

  answeredElsewhere(elicitation: string): Promise<void> {
    return this.event('external_elicitation_resolved', { elicitation_id: elicitation });
  }

  async change(patch: { title?: string; labels?: Record<string, string> }): Promise<void> {
    await this.stage.patch(`/v1/sessions/${this.id}`, patch);
  }

  async close(reason: 'done' | 'cancelled' | 'compacted'): Promise<void> {
    await this.stage.post(this.path('close'), { reason });
  }

  interrupt(type: 'interrupt' | 'stop_session'): Promise<void> {
    return this.event(type, {});
  }

  remove(): Promise<void> {
    return this.stage.remove(`/v1/sessions/${this.id}`);
  }

  private status(status: string, more: object = {}): Promise<void> {
    return this.event('external_session_status', { status, response_id: this.turn, ...more });
  }

  private item(type: string, data: object): Promise<void> {
    return this.event('external_conversation_item', {
      item_type: type,
      item_data: data,
      response_id: this.turn,
    });
  }

  private async event(type: string, data: object): Promise<void> {
    await this.stage.post(this.path('events'), { type, data });
  }

  private path(rest: string): string {
    return `/v1/sessions/${this.id}/${rest}`;
  }
}

function newTurn(): string {
  return `resp_${randomUUID().replaceAll('-', '')}`;
}
