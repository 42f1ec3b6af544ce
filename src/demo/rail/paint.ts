import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** For files, pipes, and people who set NO_COLOR. */
export const unpainted: Paint = (_style, text) => text;

export const painted: Paint = (style, text) => styleText(style, text, { validateStream: false });
