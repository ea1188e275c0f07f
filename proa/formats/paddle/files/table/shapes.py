"""Making, reshaping, indexing and joining tensors; random numbers; arrays of tensors."""

SAME: dict[str, str] = {}

ROWS = """
add_position_encoding: add_position_encoding(X; alpha:float=1.0, beta:float=1.0) -> Out
affine_channel: affine_channel(X, Scale, Bias; data_layout:string=AnyLayout) -> Out
binomial: binomial(count, prob) -> out
box_clip: box_clip(Input, ImInfo) -> Output
box_coder: box_coder(PriorBox, PriorBoxVar, TargetBox; code_type:string=encode_center_size,
    box_normalized:bool=true, axis:int=0, variance:floats=[]) -> OutputBox
broadcast_tensors: broadcast_tensors(X*) -> Out*
cast: cast(X; dtype<out_dtype:dtype) -> Out
chunk_eval: chunk_eval(Inference, Label, SeqLength; num_chunk_types:int, chunk_scheme:string=IOB,
    excluded_chunk_types:ints=[]) -> Precision, Recall, F1-Score, NumInferChunks, NumLabelChunks, NumCorrectChunks
class_center_sample: class_center_sample(Label; num_classes:int, num_samples:int, ring_id:int=0, rank:int=0,
    nranks:int=1, fix_seed:bool=false, seed:int=0) -> RemappedLabel, SampledLocalClassCenter
concat: concat(X*, AxisTensor|axis:int@int32=0) -> Out
crop_tensor: crop(X, ShapeTensor*|Shape|shape:ints@list=[], OffsetsTensor*|Offsets|offsets:ints@list=[]) -> Out
diag_embed: diag_embed(Input; offset:int=0, dim1:int=-2, dim2:int=-1) -> Out
diag_v2: diag(X; offset:int=0, padding_value:float=0.0) -> Out
diagonal: diagonal(Input; offset:int=0, axis1:int=0, axis2:int=1) -> Out
dirichlet: dirichlet(Alpha) -> Out
distribute_fpn_proposals: distribute_fpn_proposals(FpnRois, RoisNum; min_level:int, max_level:int,
    refer_level:int, refer_scale:int, pixel_offset:bool=true) -> MultiFpnRois*, MultiLevelRoIsNum*, RestoreIndex
edit_distance: edit_distance(Hyps, Refs, HypsLength, RefsLength; normalized:bool=false) -> SequenceNum, Out
empty: empty(ShapeTensorList*|ShapeTensor|shape:longs@list=[]; dtype:dtype=5) -> Out
expand_as_v2: expand_as(X, Y; target_shape:longs/ints=[]) -> Out
expand_v2: expand(X, expand_shapes_tensor*|Shape|shape:ints@list=[]) -> Out
exponential: exponential_(X; lam<lambda:float=1.0) -> Out
eye: eye(num_rows:long@int32, num_columns:long@int32=-1; dtype:dtype=5) -> Out
fill_any: fill(X, value:float@float32=0.0) -> Out
fill_any_like: full_like(X, value:float@float32=0.0; dtype:dtype=-1) -> Out
fill_constant_batch_size_like: full_batch_size_like(Input; shape:ints, dtype:dtype=5, value:float=0.0,
    input_dim_idx:int=0, output_dim_idx:int=0) -> Out
fill_diagonal: fill_diagonal(X; value:float=0.0, offset:int=0, wrap:bool=false) -> Out
fill_diagonal_tensor: fill_diagonal_tensor(X, Y; offset:long=0, dim1:int=0, dim2:int=1) -> Out
flatten_contiguous_range: flatten(X; start_axis:int, stop_axis:int) -> Out
flip: flip(X; axis:ints) -> Out
fused_bias_dropout_residual_layer_norm: fused_bias_dropout_residual_layer_norm(X, Residual, Bias, LnScale, LnBias;
    dropout_rate:float=0.5, is_test:bool=false, dropout_fix_seed:bool=true, dropout_seed:int=1,
    dropout_implementation:string=downgrade_in_infer, ln_epsilon:float=1e-05) -> Y, BiasDropoutResidualOut,
    DropoutMaskOut, LnMean, LnVariance
gather: gather(X, Index, Axis|axis:int@int32=0) -> Out
gather_nd: gather_nd(X, Index) -> Out
gaussian_inplace: gaussian_inplace(x; mean:float=0.0, std:float=1.0, seed:int=0) -> out
gaussian_random: gaussian(ShapeTensorList*|ShapeTensor|shape:longs@list=[]; mean:float=0.0, std:float=1.0,
    seed:int=0, dtype:dtype=5) -> Out
generate_proposals_v2: generate_proposals(Scores, BboxDeltas, ImShape, Anchors, Variances;
    pre_nms_top_n<pre_nms_topN:int, post_nms_top_n<post_nms_topN:int, nms_thresh:float, min_size:float, eta:float,
    pixel_offset:bool=true) -> RpnRois, RpnRoiProbs, RpnRoisNum
graph_send_recv: send_u_recv(X, Src_index, Dst_index, Out_size|out_size:longs@list=[0]; reduce_op:string=SUM) ->
    Out, Dst_count
graph_send_ue_recv: send_ue_recv(X, Y, Src_index, Dst_index, Out_size|out_size:longs@list=[0];
    message_op:string=ADD, reduce_op:string=SUM) -> Out, Dst_count
graph_send_uv: send_uv(x, y, src_index, dst_index; message_op:string=ADD) -> out
index_add: index_add(X, Index, AddValue; axis:int=0) -> Out
index_put: index_put(x, indices*, value; accumulate:bool=false) -> out
index_sample: index_sample(X, Index) -> Out
index_select: index_select(X, Index; axis<dim:int=0) -> Out
linspace: linspace(Start, Stop, Num; dtype:dtype) -> Out
logit: logit(X; eps:double/float=1e-06) -> Out
logspace: logspace(Start, Stop, Num, Base; dtype:dtype) -> Out
lrn: lrn(X; n:int=5, k:float=2.0, alpha:float=0.0001, beta:float=0.75, data_format:string=AnyLayout) -> Out,
    MidOut
masked_fill: masked_fill(x, mask, value) -> out
masked_select: masked_select(X, Mask) -> Y
memcpy: memcpy(X; dst_place_type:int) -> Out
meshgrid: meshgrid(X*) -> Out*
multinomial: multinomial(X, num_samples:int@int32=1; replacement:bool=false) -> Out
multiplex: multiplex(X*, Ids) -> Out
one_hot_v2: one_hot(X, depth_tensor|depth:int@int32=-1) -> Out
prior_box: prior_box(Input, Image; min_sizes:floats, max_sizes:floats=[], aspect_ratios:floats=[],
    variances:floats=[], flip:bool=true, clip:bool=true, step_w:float=0.0, step_h:float=0.0, offset:float=0.5,
    min_max_aspect_ratios_order:bool=false) -> Boxes, Variances
psroi_pool: psroi_pool(X, ROIs, RoisNum; pooled_height:int=1, pooled_width:int=1, output_channels:int=1,
    spatial_scale:float=1.0) -> Out
put_along_axis: put_along_axis(Input, Index, Value; axis<Axis:int, reduce<Reduce:string=assign,
    include_self<Include_self:bool=true) -> Result
randint: randint(ShapeTensorList*|ShapeTensor|shape:longs@list=[]; low:int, high:int, dtype:dtype=3) -> Out
randperm: randperm(; n:int, dtype:dtype=3) -> Out
range: arange(Start, End, Step; dtype<@Out:dtype) -> Out
repeat_interleave: repeat_interleave(X; repeats<Repeats:int=0, axis<dim:int=0, output_size:long=-1) -> Out
reshape2: reshape(X, ShapeTensor*|Shape|shape:ints@list=[]) -> Out
reverse: reverse(X, axis:ints@list) -> Out
roll: roll(X, ShiftsTensor|shifts:longs@list=[]; axis:longs=[]) -> Out
row_conv: row_conv(X, Filter) -> Out
scatter: scatter(X, Ids, Updates; overwrite:bool=true) -> Out
scatter_nd_add: scatter_nd_add(X, Index, Updates) -> Out
sequence_mask: sequence_mask(X, MaxLenTensor|maxlen:int@int32=-1; out_dtype:dtype) -> Y
shape: shape(Input) -> Out
shape64: shape64(input) -> out
shard_index: shard_index(X; index_num:int, nshards:int, shard_id:int, ignore_value:int=-1) -> Out
share_data: share_data_(X) -> Out
shuffle_channel: shuffle_channel(X; group:int=1) -> Out
size: numel(Input) -> Out
slice: slice(Input, StartsTensorList*|StartsTensor|starts:ints@list=[],
    EndsTensorList*|EndsTensor|ends:ints@list=[]; axes:longs/ints, infer_flags:longs/ints=[],
    decrease_axis:longs/ints=[]) -> Out
squeeze2: squeeze(X, axes:ints@list=[]) -> Out
stack: stack(X*; axis:int=0) -> Y
strided_slice: strided_slice(Input, StartsTensorList*|StartsTensor|starts:ints@list=[],
    EndsTensorList*|EndsTensor|ends:ints@list=[], StridesTensorList*|StridesTensor|strides:ints@list=[];
    axes:ints) -> Out
take_along_axis: take_along_axis(Input, Index; axis<Axis:int) -> Result
tile: tile(X, repeat_times_tensor*|RepeatTimes|repeat_times:ints@list=[]) -> Out
transpose2: transpose(X; perm<axis:ints) -> Out
tril_indices: tril_indices(; rows:int=0, cols:int=0, offset:int=0, dtype:dtype=3) -> out
triu_indices: triu_indices(; row:int=0, col:int=0, offset:int=0, dtype:dtype=3) -> out
unbind: unbind(X; axis:int=0) -> Out*
uniform_random: uniform(ShapeTensorList*|ShapeTensor|shape:longs@list=[], min:float@float32=-1.0,
    max:float@float32=1.0; dtype:dtype=5, seed:int=0) -> Out
uniform_random_inplace: uniform_inplace(X; min:float=-1.0, max:float=1.0, seed:int=0, diag_num:int=0,
    diag_step:int=0, diag_val:float=1.0) -> Out
unsqueeze2: unsqueeze(X, AxesTensorList*|AxesTensor|axes:ints@list=[]) -> Out
unstack: unstack(X; axis:int=0, num:int=0) -> Y*
where: where(Condition, X, Y) -> Out
where_index: nonzero(Condition) -> Out
reshape > reshape(X, ShapeTensor*|Shape|shape:ints@list=[]) -> Out
transpose > transpose(X; perm<axis:ints) -> Out
squeeze > squeeze(X, axes:ints@list=[]) -> Out
unsqueeze > unsqueeze(X, AxesTensorList*|AxesTensor|axes:ints@list=[]) -> Out
write_to_array: array_write_(-, X, I) -> Out
read_from_array: array_read(X, I) -> Out
lod_array_length: array_length(X) -> Out
tensor_array_to_tensor: array_to_tensor(X; axis:int=0, use_stack:bool=false) -> Out, OutIndex
assert: assert(Cond, Data*; summarize:long=-1) ->
print: print(In; first_n:int=-1, message:string, summarize:int=20, print_tensor_name:bool=true,
    print_tensor_type:bool=true, print_tensor_shape:bool=true, print_tensor_layout:bool=true,
    print_tensor_lod:bool=true, print_phase:string=BOTH, is_forward:bool=true) -> Out
- full(; shape:intarray, value:double=0.0, dtype:dtype) -> Out
- full_int_array(; value:longs, dtype:dtype) -> Out
- full_with_tensor(Value, Shape; dtype:dtype) -> Out
- assign_value(; shape:ints, dtype:dtype, values:doubles) -> Out
- assign_value_(Out; shape:ints, dtype:dtype, values:doubles) -> Out
- set_value(X, Starts, Ends, Steps; axes:longs, decrease_axes:longs, none_axes:longs, shape:longs, values:doubles)
    -> Out
- set_value_with_tensor(X, Value, Starts, Ends, Steps; axes:longs, decrease_axes:longs, none_axes:longs) -> Out
- split(X, Sections, Axis) -> Out*
- split_with_num(X, Axis; num:int) -> Out*
- tril(X; diagonal:int) -> Out
- triu(X; diagonal:int) -> Out
- create_array(; dtype:dtype) -> Out
- create_array_like(X; value:float) -> Out
"""
