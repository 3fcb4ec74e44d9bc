/** Stands in for the browser's EventSource, which jsdom does not have. */
export class FakeEvents extends EventTarget {
  static readonly CLOSED = 2;
  /** The last one that was opened. */
  static last: FakeEvents | undefined;
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;

  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    FakeEvents.last = this;
  }

  tell(kind: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) }));
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  /** As the browser does where the server answers with an error. */
  refuse(): void {
    this.readyState = FakeEvents.CLOSED;
    this.onerror?.();
  }

  close(): void {
    this.readyState = FakeEvents.CLOSED;
  }
}
