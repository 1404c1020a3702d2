class Loader:
    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size

    def __iter__(self):
        for start in range(0, len(self.x), self.size):
            stop = start + self.size
            yield self.x[start:stop], self.y[start:stop]
