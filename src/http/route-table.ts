interface Route {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Every path that the application serves, with its methods: tells 405 from 404. Asked only for unknown routes. */
export class RouteTable {
  private readonly routes = new Map<string, Route>();

  add(path: string, methods: string | readonly string[]): void {
    const route = this.routes.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    for (const method of typeof methods === 'string' ? [methods] : methods) route.methods.add(method);
    this.routes.set(path, route);
  }

  /** The methods that a path answers to, sorted; empty when no route has the path. */
  methodsOf(path: string): readonly string[] {
    const methods = new Set<string>();
    for (const route of this.routes.values()) {
      if (route.pattern.test(path)) for (const method of route.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}

/** `:name` is one segment, `*` the rest; a trailing slash is ignored, as the router does. */
function patternOf(path: string): RegExp {
  const source = path
    .replace(/\/$/, '')
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : literal(segment)))
    .join('/');
  return new RegExp(`^${source}/?$`);
}

function literal(segment: string): string {
  return segment.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
}
