/** gRPC status codes that this node answers. */
export const Status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
} as const;
export type Status = (typeof Status)[keyof typeof Status];

/** A call that ends with a status other than OK. The trailer `exception` decides the client's error class. */
export class GrpcError extends Error {
  constructor(
    readonly status: Status,
    message: string,
    readonly trailers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

// Clients take 64 KiB of headers in all; one byte more ends the connection with every call on it.
const LONGEST_TRAILER = 24 * 1024;

/**
 * Trailers are ASCII, stream names are not: what is no printable ASCII is percent-encoded. A name that no
 * client would take is cut.
 */
export function trailerText(name: Buffer): string {
  return encodeBytes(name, (byte) => byte >= 0x20 && byte <= 0x7e);
}

/** The encoding of `grpc-message`. */
export function encodePercent(text: string): string {
  return encodeBytes(Buffer.from(text, 'utf8'), (byte) => byte >= 0x20 && byte <= 0x7e && byte !== 0x25);
}

function encodeBytes(bytes: Buffer, plain: (byte: number) => boolean): string {
  let text = '';
  for (const byte of bytes) {
    if (text.length >= LONGEST_TRAILER) break;
    text += plain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

export function streamDeleted(stream: Buffer): GrpcError {
  return new GrpcError(Status.FAILED_PRECONDITION, `Event stream '${stream.toString('utf8')}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': trailerText(stream),
  });
}

export function wrongExpectedVersion(stream: Buffer, expected: bigint, actual: bigint): GrpcError {
  return new GrpcError(
    Status.FAILED_PRECONDITION,
    `Append failed due to WrongExpectedVersion. Stream: ${stream.toString('utf8')}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': trailerText(stream),
      'expected-version': String(expected),
      'actual-version': String(actual),
    },
  );
}

export function maximumAppendSizeExceeded(limit: number): GrpcError {
  return new GrpcError(Status.INVALID_ARGUMENT, `Maximum Append Size of ${limit} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(limit),
  });
}

export function missingMetadata(): GrpcError {
  return new GrpcError(
    Status.INVALID_ARGUMENT,
    'Required Metadata Property type or content-type is missing.',
    {
      exception: 'missing-required-metadata-property',
      'required-metadata-properties': 'type,content-type',
    },
  );
}

export function accessDenied(): GrpcError {
  return new GrpcError(Status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
}

export function invalidArgument(message: string): GrpcError {
  return new GrpcError(Status.INVALID_ARGUMENT, message);
}
