// Shows both errors of a SuppressedError, of which Deno shows neither: the one that ended
// a block, and the one of the disposal after it.

Object.defineProperty(SuppressedError.prototype, "cause", {
  get(this: SuppressedError): AggregateError {
    const both = new AggregateError(
      [this.suppressed, this.error],
      "The error, and then that of a disposal",
    );
    both.stack = undefined; // of this function
    return both;
  },
});
