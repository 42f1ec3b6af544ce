import { RouteTable } from './route-table.js';

describe('the route table', () => {
  const routes = new RouteTable();
  routes.add('/', 'GET');
  routes.add('/v1/sessions', ['GET', 'HEAD']);
  routes.add('/v1/sessions', 'POST');
  routes.add('/v1/sessions/:id', 'GET');
  routes.add('/v1/sessions/updates', 'GET');
  routes.add('/v1/a.b', 'GET');
  routes.add('/files/*', 'GET');

  it.each<[string, string[]]>([
    ['/', ['GET']],
    ['/v1/sessions', ['GET', 'HEAD', 'POST']],
    ['/v1/sessions/', ['GET', 'HEAD', 'POST']],
    ['/v1/sessions/x', ['GET']],
    ['/v1/sessions/x/y', []],
    ['/v1/a.b', ['GET']],
    ['/v1/axb', []],
    ['/files/a/b', ['GET']],
    ['', ['GET']],
    ['/nope', []],
  ])('%s', (path, methods) => {
    expect(routes.methodsOf(path)).toEqual(methods);
  });
});
