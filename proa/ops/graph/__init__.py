"""Functions on graphs (`paddle.geometric`): messages along edges, pooling by segment, sampling, renumbering."""
